"""What SGF's properties mean: board, komi, moves, and stones that are set up, even if programs write them against
the standard. `tidied` puts a game's tree right if the meaning is clear, and says what it did.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import takewhile

from gozero.games import coords
from gozero.games.go.handicap import FEWEST_STONES, fixed_points, most_fixed
from gozero.records.sgf_nodes import SgfNode
from gozero.records.sgf_text import line

LEAST_SIZE, MOST_SIZE = 2, 52  # points a side that SGF can write
_SMALL_BOARD = 9  # on smaller ones komi may be beyond the board's points
_PLAYERS = {"b": "B", "w": "W", "1": "B", "2": "W"}  # the digits are CGoban's
_PARTS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75, "半": 0.5, "반": 0.5}
_PART = "[½¼¾半반]|(?<!\\d)(?:1/2|[13]/4)"
_POINTS = re.compile(
    rf"(\d+(?:[.,]\d*)?(?:e\d+)?|[.,]\d+)?[\s又-]*({_PART})?\s*(子?)(?:points?|pts?|moku|[目집])?([半반]?)\s*\.?", re.I
)
_KOMI = re.compile(r"(?:komi|黑?[贴貼]|コミ|덤)?\s*([+-]?)\s*(.+)", re.I)
_HANDICAP = re.compile(r"(\d{1,4})(?:[.,]0*)?\s*(?:stones?|子|目|점)?", re.IGNORECASE)
_OF_MOVE = ("KO", "MN", "BL", "WL", "OB", "OW", "BM", "DO", "IT", "TE")
_OF_POSITION = ("C", "N", "LB", "TR", "SQ", "CR", "MA", "SL", "TB", "TW", "AR", "LN", "DD")


def size_of(root: SgfNode) -> int:
    """Points a side; 19 if the file says nothing. ValueError if it is no square board."""
    written = root.line("SZ")
    match = re.fullmatch(r"(\d{1,4})\s*(?:[:x*]\s*(\d{1,4}))?", written or "19")
    if match is None or match[2] not in (None, match[1]):
        raise ValueError(f"SZ[{written[:40]}]: expected one number, the points a side of a square board")
    if not LEAST_SIZE <= int(match[1]) <= MOST_SIZE:
        raise ValueError(f"board size {int(match[1])}: expected {LEAST_SIZE} to {MOST_SIZE}")
    return int(match[1])


def points_in(text: str) -> float | None:
    """A number of points as people write it: 6.5, 6,5 points, 6-1/2, ½, 6目半; a stone, 子, is two. Else None."""
    match = _POINTS.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        return None
    points = float((match[1] or "0").replace(",", ".")) + _PARTS.get(match[2] or match[4], 0.0)
    return 2 * points if match[3] else points


def komi_of(root: SgfNode) -> float | None:
    """Points for White, None if there is none, or none that can be meant.

    Some servers write hundredths (650 is 6.5), or Chinese stones, which are two points (3.75 is 7.5), or both (375).
    """
    written = root.line("KM")
    if not written and "KO" in root.properties and move_of(root) is None:  # as files of the first version have it
        written = root.line("KO")
    match = _KOMI.fullmatch(written)
    komi = points_in(match[2]) if match else None
    if match is None or komi is None:
        return None
    komi = -komi if match[1] == "-" else komi
    program = root.text("AP").lower()  # several programs may have signed
    is_plain, least = program.startswith("gozero"), 25 if "fox" in program else 100
    if komi % 1 == 0 and least <= abs(komi) < 100 * least and not is_plain:
        komi /= 100
    if abs(komi) < 5 and (4 * komi) % 2 == 1 and not is_plain:  # a quarter point
        komi *= 2
    return komi if math.isfinite(komi) and abs(komi) <= max(size_of(root), _SMALL_BOARD) ** 2 else None


def player_of(node: SgfNode) -> str | None:
    """PL as B or W, by its first letter as some programs write whole words; None if there is none."""
    return _PLAYERS.get(node.line("PL")[:1].lower())


def move_of(node: SgfNode) -> tuple[str, str] | None:
    """(B or W, the point as it is written) of a node's move, if it has one."""
    return next(((colour, node.properties[colour][0]) for colour in "BW" if colour in node.properties), None)


def is_set_up(node: SgfNode) -> bool:
    """Whether stones are set up or taken off."""
    return not node.properties.keys().isdisjoint(("AB", "AW", "AE"))


def points_of(node: SgfNode, name: str, size: int) -> set[int]:
    """Actions of the points of a list, which may name rectangles by two corners."""
    marked = set()
    for value in node.properties.get(name, ()):
        corners = [corner for corner in value.split(":") if corner.strip()]
        ends = [divmod(coords.from_sgf(corner, size), size) for corner in corners]
        if not corners:
            continue
        rows, cols = (sorted(axis) for axis in zip(*ends, strict=True))
        if rows[-1] >= size:
            raise ValueError(f"{name}[{value[:20]}] is no point of a {size}x{size} board")
        marked |= {row * size + col for row in range(rows[0], rows[-1] + 1) for col in range(cols[0], cols[-1] + 1)}
    return marked


def first_plays(nodes: Iterable[SgfNode]) -> int:
    """Black's plays before White's first move, which some programs write instead of stones that are set up."""
    moves = (move for node in nodes if (move := move_of(node)) is not None)
    return sum(1 for _ in takewhile(lambda move: move[0] == "B", moves))


def handicap_of(root: SgfNode, size: int) -> int:
    """HA, else the number of Black's stones on the root when they are enough for a handicap, none of White's, and Black
    does not play first.
    """
    if written := root.line("HA"):
        match = _HANDICAP.fullmatch(written)
        return int(match[1]) if match and int(match[1]) <= size**2 else 0  # no board holds more
    black, white = points_of(root, "AB", size), root.properties.get("AW")
    return 0 if len(black) < FEWEST_STONES or white or player_of(root) == "B" else len(black)


def main_line(root: SgfNode) -> list[SgfNode]:
    line = [root]
    while line[-1].children:
        line.append(line[-1].children[0])
    return line


def tidied(root: SgfNode, size: int, *, named: bool) -> list[str]:
    """Put a tree right if its meaning is clear; what was done, for people. With ``named`` points may have the names
    that players use, d3, as in records of Othello.
    """
    said: list[str] = []
    pending = [(root, "W" if handicap_of(root, size) else "B")]
    while pending:
        node, turn = pending.pop()
        _tidy_player(node, said)
        if named:
            _tidy_names(node, size, said)
        _tidy_points(node, said)
        turn = player_of(node) or turn
        if move_of(node) and (node is root or is_set_up(node)):
            node = _parted(node, *"BW", *_OF_MOVE)
        if "B" in node.properties and "W" in node.properties:
            node.properties.pop("PL", None)
            node = _parted(node, "W" if turn == "B" else "B")
            said.append("B and W in one node were read as two moves")
        elif move := move_of(node):
            turn = "W" if move[0] == "B" else "B"
        pending += [(child, turn) for child in reversed(node.children)]
    _check_heading(root, said)
    _tidy_komi(root, said)
    _tidy_handicap(root, size, said)
    return [text if count == 1 else f"{text} ({count} times)" for text, count in Counter(said).items()]


def _check_heading(root: SgfNode, said: list[str]) -> None:
    """Say what of the game as a whole stands twice, or if it counts for nothing."""
    for node in root.below():
        for name in ("SZ", "KM", "RU", "HA"):
            values = node.properties.get(name, [])
            if node is not root and values:
                said.append(f"{name}[{line(values[0])[:40]}] was left out: it is not in the first node")
            elif len(set(values)) > 1:
                said.append(f"{name} stands there {len(values)} times: the first, {line(values[0])[:40]}, was read")


def _tidy_player(node: SgfNode, said: list[str]) -> None:
    written, player = node.line("PL"), player_of(node)
    node.set("PL", player or "")
    if written and not player:
        said.append(f"PL[{written[:40]}] was left out: it is no colour")


def _tidy_points(node: SgfNode, said: list[str]) -> None:
    """Take blanks out of points; several points in B or W are stones that are set up."""
    for name in ("B", "W", "AB", "AW", "AE"):
        if name not in node.properties:
            continue
        values = [re.sub(r"\s", "", value) for value in node.properties[name]]
        node.properties[name] = values
        if name in "BW" and (len(set(values)) > 1 or ":" in values[0]):
            del node.properties[name]
            node.properties.setdefault(f"A{name}", []).extend(values)
            said.append(f"several points in one {name} were set up")


def _tidy_names(node: SgfNode, size: int, said: list[str]) -> None:
    for name in ("B", "W", "AB", "AW", "AE"):
        for index, value in enumerate(node.properties.get(name, ())):
            with suppress(ValueError):
                action = coords.parse_vertex("pass" if value.strip().lower() == "pa" else value, size)
                node.properties[name][index] = coords.to_sgf(action, size)
                said.append("points such as d3, and pass, were read")


def _parted(node: SgfNode, *moves: str) -> SgfNode:
    """Let a node be two; the second, the answer, has these properties and what is said of the position after them."""
    later = [name for name in node.properties if name in (*moves, *_OF_POSITION)]
    child = SgfNode({name: node.properties.pop(name) for name in later}, node.children, node.offset)
    node.children = [child]
    return child


def _tidy_komi(root: SgfNode, said: list[str]) -> None:
    komi, written = komi_of(root), root.line("KM")
    if komi is None and written:
        said.append(f"the komi, {written[:40]}, was left out: it is impossible on this board")
    elif komi is not None and written and written != f"{komi:.15g}":
        root.set("KM", f"{komi:.15g}")
        if not re.fullmatch(r"[+-]?\d*[.,]?\d*", written) or float(written.replace(",", ".")) != komi:
            said.append(f"the komi, {written[:40]}, was read as {komi:g}")


def _tidy_handicap(root: SgfNode, size: int, said: list[str]) -> None:
    """Set up the stones of a handicap that the file only counts; correct HA where there are fewer."""
    written, stones, line = root.line("HA"), handicap_of(root, size), main_line(root)
    if written and not stones and not re.fullmatch(r"[01]?", written):
        root.set("HA", "")
        said.append(f"HA[{written[:40]}] was left out: it is no number of stones for this board")
    begun = [*takewhile(lambda node: move_of(node) is None, line), *line[:1]]
    set_up = set().union(*(points_of(node, "AB", size) for node in begun))
    placed = max(len(set_up), first_plays(line))
    if stones <= max(placed, 1):
        return
    moves = [move for node in line if (move := move_of(node)) is not None]
    if not set_up and placed < FEWEST_STONES and stones <= most_fixed(size) and (not moves or moves[0][0] == "W"):
        fixed = fixed_points(stones, size)
        names = [coords.to_sgf(point, size) for point in fixed]
        if not {move[1].lower() for move in moves} & set(names):
            root.properties["AB"] = names
            said.append(f"HA[{stones}] without its stones: the fixed ones were set up")
            return
    root.set("HA", str(placed) if placed >= FEWEST_STONES else "")
    how = f"it was read as {placed}, as many as there are" if placed >= FEWEST_STONES else "it was left out"
    said.append(f"HA[{stones}] without its stones: {how}")
