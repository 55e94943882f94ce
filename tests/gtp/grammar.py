"""Lines of GTP drawn by chance: by a grammar of what controllers send, or as noise.

Vocabulary. A *form* is text in which `<rule>` stands for one of the forms of that rule. `RULES` are the parts of lines;
`COMMON`, `GO` and `OTHERS` the forms of whole lines, without their ids. What a line by the grammar asks may still be
impossible: an occupied point, a komi that is no number, a handicap of -2. The same `random.Random` draws the same
lines. No line holds a line feed or says `quit`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gozero.games import GO_FAMILY
from gtp.protocol import parse_line
from gtp.settings import GtpSettings
from tests.gtp.engine import Engine

GRAMMAR, NOISE = "grammar", "noise"
KINDS = (GRAMMAR, GRAMMAR, NOISE)
"""Two of three lines are drawn by the grammar."""

RULES: dict[str, Sequence[str]] = {
    "colour": ["b", "w", "B", "W", "black", "White"],
    "vertex": [f"{letter}{row}" for letter in "ABCDEFGHJabcdefghj" for row in range(1, 10)] + ["pass"] * 18,
    "stone": ["<colour> <vertex>"] * 6 + ["e <vertex>"],
    "stones": ["", "<stone>", "<stone> <stone>", "<stone> <stones>"],
    "vertices": ["", "<vertex>", "<vertex> <vertex>", "<vertex> <vertices>"],
    "small": [str(number) for number in range(-2, 13)],
    "odd number": [
        "1e400",
        "-0",
        "٣",
        "0x10",
        "1_0",
        "9" * 26,
        "nan",
        "-inf",
        "1e-320",
        "0.1",
        "-7.25",
        "6.5",
        "361.5",
    ],
    "number": ["<small>", "<small>", "<odd number>"],
    "path": [
        "game.sgf",
        '"game.sgf"',
        "my game.sgf",
        "broken.sgf",
        "no-such-file",
        "/",
        ".",
        "~nobody/x 3",
        "long" * 100,
    ],
    "flag": [
        f"{name} {value}"
        for name in ("ownership", "movesOwnership", "rootInfo", "pvVisits")
        for value in ("true", "false")
    ],
    "restriction": [
        "avoid <colour> <vertex> <small>",
        "allow <colour> <vertex> <small>",
        "avoid <colour> <vertex>,<vertex> <small>",
    ],
    "count": ["interval <small>", "minmoves <small>", "maxmoves <small>"],
    "option": ["<colour>", "<number>", "<flag>", "<restriction>", "<count>"],
    "options": ["", "<option>", "<option> <option>", "<option> <options>"],
    "analysis": [
        *["lz-analyze", "kata-analyze"] * 3,
        *["lz-genmove_analyze", "kata-genmove_analyze", "cgos-genmove_analyze"] * 2,
    ],
    "clock": [
        *[
            "none",
            "absolute 60",
            "byoyomi 9 0.5 3",
            "byoyomi 0 5 1",
            "canadian 9 30 5",
            "fischer 9 1",
            "fischer-capped 9 1 20 -1",
        ],
        *["absolute -3", "byoyomi <number> <number> <small>", "canadian <number> <number> <small>"],
    ],
    "menu": ["value", "policy", "visits", "principal_variation", "search_tree"],
}
"""The parts of lines."""

COMMON = """\
play <colour> <vertex>
play <colour> <vertex>
play <colour> <vertex>
genmove <colour>
genmove <colour>
undo
undo
reg_genmove <colour>
restricted_genmove <colour> <vertex> <vertex>
<analysis> <options>
<analysis> <colour> <small>
<analysis> <colour> <flag>
protocol_version
name
version
list_commands
known_command play
known_command nothing
known_command quit
boardsize 4
boardsize 5
boardsize 6
boardsize 7
boardsize 9
query_boardsize
clear_board
komi <number>
showboard
final_score
move_history
last_move
gg-undo
gg-undo <small>
is_legal <colour> <vertex>
all_legal <colour>
list_stones <colour>
play_sequence <stones>
gogui-play_sequence <stones>
set_position <stones>
gogui-setup <stones>
gogui-setup_player <colour>
gogui-analyze_commands
gogui-<menu>
gogui-<menu> <colour>
gogui-param
gogui-param liveGraphics 1
gogui-param liveGraphics 0
gogui-param level <small>
kata-list-params
kata-get-param maxVisits
kata-get-param <small>
kata-set-param maxVisits <small>
kata-set-param chosenMoveTemperatureEarly <number>
gogui-interrupt
gogui-version 1.6
gomill-explain_last_move
gomill-describe_engine
gomill-cpu_time
cputime
stop
clear_cache
time_settings <number> <number> <small>
time_left <colour> <number> <small>
kgs-time_settings <clock>
kata-time_settings <clock>
kata-list_time_settings""".splitlines()
GO = """\
loadsgf <path>
loadsgf <path> <small>
printsgf
printsgf -
printsgf written.sgf
printsgf /no/folder/x
get_komi
get_handicap
fixed_handicap <small>
place_free_handicap <small>
set_free_handicap <vertices>
final_status_list alive
final_status_list dead
final_status_list seki
final_status_list dame
final_status_list black_territory
kgs-genmove_cleanup <colour>
kgs-rules chinese
kgs-rules new_zealand
kgs-rules japanese
kgs-rules 7
kata-get-rules
kata-set-rules chinese
kata-set-rules Tromp_Taylor
kata-set-rules korean
kata-set-rules {"ko":"SIMPLE"}
kata-set-rules {"ko":
kata-set-rules {"tax":[1]}
kata-set-rules {}
kata-set-rule ko SIMPLE
kata-set-rule suicide true
kata-set-rule scoring AREA
kata-set-rule komi 7
kgs-game_over
cgos-opponent_name Ann
cgos-opponent_rating
cgos-opponent_rating 1850?
cgos-gameover W+Time
gogui-ownership""".splitlines()
OTHERS = """\
genmove b
genmove w
gogui-rules_game_id
gogui-rules_board
gogui-rules_board_size
gogui-rules_legal_moves
gogui-rules_side_to_move
gogui-rules_final_result""".splitlines()
"""Lines of every game, of Go, and of games that are not Go."""

IDS = ["", "", "", "1 ", "7", "0012 ", "999999999999999999999999 "]
BLANKS = ["", " ", "\t", "#", "# comment", "12", "7 # x", "\x00\x01", "\r", "# interrupt", "quitx", "3 3 3"]
ALPHABETS = [range(32, 127), range(32), range(160, 0x250), range(0x370, 0xD800), range(0xE000, 0x10FFFF)]
"""Code points of noise: printable ASCII, controls, letters with accents, other scripts without surrogates, all the
rest.
"""

FILES = {
    "game.sgf": b"(;SZ[7]KM[5.5];B[aa];W[bb];B[cc];W[];B[dd])",
    "my game.sgf": b"(;SZ[5]HA[2]AB[aa][ee];W[cc];B[tt])",
    "broken.sgf": b"(;SZ[9];B[aa];W[aa])",
}
"""What `<path>` may find in the working directory."""


@dataclass(frozen=True)
class Line:
    """A line and whether it was drawn by the grammar or as noise."""

    kind: str
    text: str


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        (folder / name).write_bytes(content)


def commands_of(game: str) -> list[str]:
    """The commands that the engine lists for a game."""
    return Engine(GtpSettings(game)).ask("list_commands").split("\n")


def lines(game: str, source: random.Random) -> Iterator[Line]:
    """Lines for an engine that plays this game, without end."""
    forms = COMMON + (GO if game in GO_FAMILY else OTHERS)
    commands = commands_of(game)
    while True:
        kind = source.choice(KINDS)
        text = expand(source.choice(forms), source) if kind == GRAMMAR else noise(commands, source)
        text = f"{source.choice(IDS)}{text}".replace("\n", " ")
        if not is_quit(text):
            yield Line(kind, text)


def expand(form: str, source: random.Random) -> str:
    """The form with something for each of its rules."""
    return re.sub("<([a-z ]+)>", lambda match: expand(source.choice(RULES[match[1]]), source), form)


def noise(commands: Sequence[str], source: random.Random) -> str:
    """A known command with something behind it that need not suit, or plain noise."""
    match source.randrange(5):
        case 0:
            return f"{source.choice(commands)} {characters(source)}"
        case 1:
            return f"{source.choice(commands)} {expand('<options> <vertices>', source)}"
        case 2:
            return characters(source)
        case 3:
            return source.randbytes(source.randrange(30)).decode("utf-8", "surrogateescape")
        case _:
            return source.choice(BLANKS)


def characters(source: random.Random) -> str:
    return "".join(chr(source.choice(source.choice(ALPHABETS))) for _ in range(source.randrange(20)))


def is_quit(text: str) -> bool:
    command = parse_line(text)
    return command is not None and command.name == "quit"
