"""The nodes of SGF and its grammar, both ways: texts to trees of properties and back.

It reads what the standard forbids if the meaning is clear, and says so in remarks; it knows no property's meaning but
which of them hold free text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gozero.records.sgf_text import escaped, line, plain

_NAMES = """
    B KO MN W AB AE AW PL C DM GB GW HO N UC V BM DO IT TE AR CR DD LB LN MA SL SQ TR AP CA FF GM ST SZ AN BR BT CP DT
    EV GN GC ON OT PB PC PW RE RO RU SO TM US WR WT BL OB OW WL FG PM VW HA KM TB TW
""".split()
_FREE = set("C N V AP CA AN BR BT CP DT EV GN GC ON OT PB PC PW RE RO RU SO US WR WT FG LB".split())
_SHORT = _FREE - {"C", "GC", "LB"}
_NAME = r"[A-Za-z][A-Za-z0-9_]*\s*\["
_PROPERTY = r"(?:[a-z]*[A-Z][A-Za-z0-9_]*\s*\[)"
_START = re.compile(rf"\(\s*(?:;|\(|{_PROPERTY})|(?P<bare>\A\s*(?=;\s*{_PROPERTY}))")
_MARK = re.compile(r"\s*([;()]|[A-Za-z][A-Za-z0-9_]*(?=\s*\[)|\[)")
_VALUE = re.compile(r"[^\]\\]*(?:\\.[^\]\\]*)*\]", re.DOTALL)
# what may follow a value; in a comment with brackets of its own something else follows
_AFTER = re.compile(
    rf"\s*(?:\Z|\[|{_PROPERTY}|;\s*(?:\Z|[;()]|{_PROPERTY})|\(\s*(?:;|{_PROPERTY})"
    r"|\)\s*(?:\Z|[();]|[^\]]*?\(\s*;|[^\]]*\Z))"
)
_SIGN, _TOKEN = re.compile(r"\S"), re.compile(rf"[;()\[]|\b{_NAME}")
_BRACKET = re.compile(r"\s*\[")
_FOLDER = re.compile(rf"\\\](?=\s*;?\s*{_PROPERTY})")  # a backslash that is the last sign of a value, as of C:\\Go\\
_SWALLOWED = re.compile(r"(?<=\s)[A-Z]{2}\[")  # a property in a name, the bracket before it is missing
_NODE = re.compile(rf";\s*{_PROPERTY}")
_WIDTH = 79
_MOST_REMARKS = 5


@dataclass(eq=False)
class SgfNode:
    properties: dict[str, list[str]] = field(default_factory=dict)  # as they are written, without brackets
    children: list[SgfNode] = field(default_factory=list)  # the main continuation first
    offset: int = 0  # where it begins in its text

    def text(self, name: str) -> str:
        """A property as text, or ""; all values if it wrongly has several."""
        return "\n".join(plain(value) for value in self.properties.get(name, ()))

    def line(self, name: str) -> str:
        """A property in one line, or ""; the first value if it wrongly has several."""
        return line(self.properties.get(name, ("",))[0])

    def set(self, name: str, text: str) -> None:
        """Give a property one value, or take it away where that is empty."""
        if text:
            self.properties[name] = [escaped(text)]
        else:
            self.properties.pop(name, None)

    def below(self) -> Iterator[SgfNode]:
        """This node and all that follow, parents before children, main line first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += node.children[::-1]


def place(text: str, offset: int) -> str:
    """A place in a text, for people."""
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))}"


def parse(text: str) -> tuple[list[SgfNode], list[str]]:
    """(the root of each game in a text, what was strange). ValueError says what is no game, and where."""
    parser = _Parser(text)
    parser.run()
    return parser.games, parser.remarks


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.games: list[SgfNode] = []
        self.remarks: list[str] = []
        self._open: list[SgfNode | None] = []  # for each open bracket the node before it
        self._node: SgfNode | None = None  # that a property belongs to, or that the next one follows
        self._parent: SgfNode | None = None  # of the node that was begun last
        self._is_begun = True  # whether a node stands behind the last opening bracket

    def run(self) -> None:
        while start := _START.search(self._text, self._at):
            self._between(start.start())
            self._at = start.start()
            if start["bare"] is not None:
                self._open.append(None)
                self._remark("there is no ( before the game")
            self._game()
        self._between(len(self._text))
        names = {name for root in self.games for node in root.below() for name in node.properties}
        is_sgf = names & set(_NAMES) or self._text.lstrip("\ufeff\0 \t\r\n").startswith(("(", ";"))
        if not (self.games and is_sgf):  # a program has for (;;)
            raise ValueError(self._nothing())

    def _between(self, end: int) -> None:
        """Say it where nodes stand outside the games, behind a bracket too many."""
        if self.games and (lost := _NODE.search(self._text, self._at, end)):
            self._remark("what stands behind the end of the game was left out", lost.start())

    def _nothing(self) -> str:
        found = re.search(r"\S+", self._text)
        if found is None:
            return "it is empty"
        return f"expected a game, which begins with (; - {place(self._text, found.start())}: {found[0][:20]!r}"

    def _remark(self, what: str, at: int | None = None) -> None:
        if len(self.remarks) < _MOST_REMARKS:
            self.remarks.append(f"{place(self._text, self._at if at is None else at)}: {what}")

    def _game(self) -> None:
        """Read up to the bracket that closes the game, or to the end."""
        while True:
            mark = _MARK.match(self._text, self._at)
            if mark is None:
                if not self._stray():
                    break
                continue
            self._at = mark.end()
            if mark[1] == "(":
                self._open.append(self._node)
                self._is_begun = False
            elif mark[1] == ")":
                self._node = self._open.pop()
                self._is_begun = True
                if not self._open:
                    self._node = None
                    return
            elif mark[1] == ";":
                self._begin_node()
            else:
                self._property(mark[1], mark.start(1))
        if self._node is not None and not (self._node.properties or self._node.children):  # its only value was torn
            (self.games if self._parent is None else self._parent.children).pop()
        self._remark("the file ends before the game does")
        self._open.clear()
        self._node = None

    def _stray(self) -> bool:
        """Pass over what is no SGF; False at the end."""
        sign = _SIGN.search(self._text, self._at)
        if sign is None:
            return False
        begin = sign.start()
        found = _TOKEN.search(self._text, begin + 1)
        self._at = found.start() if found else len(self._text)
        what = " ".join(self._text[begin : self._at].split())
        if what.strip("\0\x1a"):
            self._remark(f"{what[:20]!r} was left out", begin)
        return True

    def _begin_node(self) -> None:
        node = SgfNode(offset=self._at - 1)
        if self._node is None:
            self.games.append(node)
        else:
            if self._node.children and self._is_begun:
                self._remark("nodes that follow variations were read as one more")
            self._node.children.append(node)
        self._parent, self._node, self._is_begun = self._node, node, True

    def _property(self, name: str, begin: int) -> None:
        """Read the values behind a name."""
        if not self._is_begun or self._node is None:
            here, self._at = self._at, begin + 1
            self._begin_node()
            self._at = here
        assert self._node is not None
        if name == "[":
            self._at -= 1
            self._remark("a value that belongs to no property was left out")
        short = re.sub("[a-z]", "", name)  # the first versions of SGF wrote White for W
        name = short if short in _NAMES else name.upper() if name.islower() else name
        values = []
        while bracket := _BRACKET.match(self._text, self._at):
            self._at = bracket.end()
            values.append(self._value(name))
        if name != "[" and (found := [value for value in values if value is not None]):
            self._node.properties.setdefault(name, []).extend(found)

    def _value(self, name: str) -> str | None:
        begin = self._at
        found = _VALUE.match(self._text, begin)
        if found is None:
            self._at = len(self._text)  # the file ends in it
            return self._text[begin:].rstrip("\\") if name in _FREE else None
        end = found.end()
        if name in _SHORT and (folder := _FOLDER.search(self._text, begin, end)):
            self._at = folder.end()
            return self._text[begin : folder.end() - 1] + "\\"
        while name in _FREE or name not in _NAMES:
            if _AFTER.match(self._text, end):
                break
            more = _VALUE.match(self._text, end)
            if more is None or _NODE.search(self._text, end, more.end()):
                break
            end = more.end()
        self._at = end
        value = self._text[begin : end - 1]
        if name in _SHORT and (found := _SWALLOWED.search(value)):
            self._remark(f"{name} holds {found[0]}, for want of a ] before it", begin + found.start())
        return re.sub(r"(\\.)|\]", lambda sign: sign[1] or "\\]", value, flags=re.DOTALL) if "]" in value else value


def write(games: Iterable[SgfNode]) -> str:
    """Games as a text in lines of at most 79 characters where that can be; no line is empty unless a text has such."""
    lines, row = [], ""
    for piece in _pieces(games):
        if len(row) + len(piece) > _WIDTH or piece == "\n":
            lines.append(row)
            row = ""
        row += piece.rstrip("\n")
    return "\n".join(filter(None, [*lines, row])) + "\n"


def _pieces(games: Iterable[SgfNode]) -> Iterator[str]:
    for root in games:
        pending: list[SgfNode | str] = ["\n", ")", root, "("]
        while pending:
            node = pending.pop()
            if isinstance(node, str):
                yield node
                continue
            yield ";"
            for name, values in node.properties.items():
                yield name + "".join(f"[{value}]" for value in values or [""])
            if len(node.children) == 1:
                pending.append(node.children[0])
            for child in reversed(node.children if len(node.children) > 1 else ()):
                pending += [")", child, "("]
