"""GNU Go 3.8 as a live referee of legal moves: along random games both sides list the same moves.

GNU Go remembers 500 moves, so the games stop before that. It has no rule set by name, so each is given by its options;
and it does not look for repetition where a move is suicide, so suicide is compared under simple ko.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from gozero.games.coords import parse_vertex, vertex
from gozero.games.game import NOT_OVER
from gozero.games.go import go, header
from gozero.games.go.rules import NO_BONUS, RULES, SIMPLE, RuleSet
from tests.rows import Row

pytestmark = pytest.mark.gnugo

OPTIONS = {
    RULES["chinese"]: ("--chinese-rules", "--forbid-suicide", "--positional-superko"),
    RULES["chinese-simple"]: ("--chinese-rules", "--forbid-suicide", "--simple-ko"),
    RULES["aga"]: ("--chinese-rules", "--forbid-suicide", "--situational-superko"),
    RuleSet("suicide", SIMPLE, True, NO_BONUS): ("--chinese-rules", "--allow-all-suicide", "--simple-ko"),
}
rule_sets = pytest.mark.parametrize("rules", OPTIONS, ids=lambda rules: rules.name)
MEMORY = 500
COLOURS = {1: "black", 2: "white"}


class GnuGo:
    """A GTP connection that sends a command and waits for its answer."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, command: str) -> str:
        """The text of a successful answer; AssertionError for a failure."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()).strip() or not lines:
            assert line, f"gnugo ended at {command!r}"
            lines.append(line)
        answer = "".join(lines)
        assert answer.startswith("="), f"{command!r}: {answer}"
        return answer[1:].strip()


@contextmanager
def gnugo(rules: RuleSet) -> Iterator[GnuGo]:
    command = ["gnugo", "--mode", "gtp", *OPTIONS[rules]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield GnuGo(process)
        process.kill()


def check_same_moves(row: Row, referee: GnuGo) -> set[int]:
    """Both list the same points for the side to move; returns the points."""
    size = row.game.rows
    theirs = {parse_vertex(word, size) for word in referee.ask(f"all_legal {COLOURS[row.to_play]}").split()}
    ours = row.legal() - {row.game.pass_action}
    only_ours, only_theirs = (
        [vertex(action, size) for action in sorted(side)] for side in (ours - theirs, theirs - ours)
    )
    assert ours == theirs, f"only here {only_ours}, only GNU Go {only_theirs}\n{row}\n{referee.ask('showboard')}"
    return ours


def new_row(size: int, rules: RuleSet) -> Row:
    game = go.make(size)
    state = game.initial.copy()
    header.set_rules(state, rules, 7.5)
    return Row(game, state)


def play_random_game(referee: GnuGo, size: int, rules: RuleSet, seed: int, ask_every: int) -> int:
    """A random game, asked about at every `ask_every`-th ply; returns how many moves only superko barred."""
    rng = random.Random(seed)
    row, simple = new_row(size, rules), new_row(size, replace(rules, ko=SIMPLE))
    barred = 0
    referee.ask(f"boardsize {size}")
    referee.ask("clear_board")
    for ply in range(min(MEMORY - 20, 5 * size * size)):
        points = check_same_moves(row, referee) if ply % ask_every == 0 else row.legal() - {row.game.pass_action}
        barred += len(simple.legal() - {row.game.pass_action} - points)
        action = rng.choice(sorted(points)) if points and rng.random() > 0.03 else row.game.pass_action
        referee.ask(f"play {COLOURS[row.to_play]} {vertex(action, size)}")
        row.play(action)
        simple.play(action)
        if row.game.outcome(row.state) != NOT_OVER:
            break
    return barred


@rule_sets
@pytest.mark.parametrize(
    ("size", "games", "ask_every"), [(2, 60, 1), (3, 60, 1), (5, 20, 1), (9, 6, 2), (13, 2, 3), (19, 1, 5)]
)
def test_gnugo_lists_the_same_moves(rules: RuleSet, size: int, games: int, ask_every: int) -> None:
    with gnugo(rules) as referee:
        barred = sum(play_random_game(referee, size, rules, seed, ask_every) for seed in range(games))
    if size <= 3 and rules.ko != SIMPLE:
        assert barred > 0, "no superko came up: the test shows nothing"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@rule_sets
@pytest.mark.parametrize(("size", "games"), [(2, 500), (3, 500), (5, 300), (7, 100), (9, 60), (13, 20), (19, 5)])
def test_gnugo_lists_the_same_moves_in_many_games(rules: RuleSet, size: int, games: int) -> None:
    with gnugo(rules) as referee:
        for seed in range(1000, 1000 + games):
            play_random_game(referee, size, rules, seed, 1)
