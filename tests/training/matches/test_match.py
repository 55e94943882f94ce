"""The match loop with scripted players, and the command line with its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from gozero import games
from gozero.games import coords
from gozero.games.game import BLACK, WHITE, Game
from gozero.games.position import Position
from training.matches.match import MatchGame, play_match, winner_named
from training.matches.players import Fault, RandomPlayer, Turn

SIZE = 5
PASS, RESIGN = coords.pass_action(SIZE), coords.resign_action(SIZE)
Rule = Callable[[Position], int | Fault]


class Scripted:
    """A player that follows a rule and remembers what it was asked."""

    def __init__(self, rule: Rule, claim: str | None = None, name: str = "scripted") -> None:
        self.rule, self.claim, self.name = rule, claim, name
        self.begun: list[int] = []
        self.largest_batch = 0

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        self.begun.append(seed)
        return None

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        assert len({turn.slot for turn in turns}) == len(turns)
        self.largest_batch = max(self.largest_batch, len(turns))
        return [self.rule(turn.position) for turn in turns]

    def final_score(self, turn: Turn) -> str | None:
        return self.claim

    def close(self) -> None:
        pass


def follow(*vertices: str) -> Rule:
    """At ply k play vertices[k]; pass after the last."""
    return lambda position: coords.parse_vertex(vertices[position.ply], SIZE) if position.ply < len(vertices) else PASS


def always(answer: int | Fault) -> Rule:
    return lambda position: answer


def winner(record: MatchGame) -> int | None:
    """Whether the first or the second player won; None for a draw."""
    return record.pair.index(record.winner) if record.winner else None


def play(
    go: Game, a: Rule, b: Rule, claims: tuple[str | None, str | None] = (None, None), **settings: int
) -> list[MatchGame]:
    players = (Scripted(a, claims[0]), Scripted(b, claims[1]))
    return sorted(play_match(players, go, **{"games": 2} | settings), key=lambda record: record.index)


def test_two_passes_end_the_game_and_the_board_is_counted(go: Game) -> None:
    first, second = play(go, always(PASS), always(PASS))
    assert (first.result, first.ended, first.black[0], winner(first)) == ("W+7.5", "two passes", "0", 1)
    assert (second.black[0], winner(second)) == ("1", 0)
    centre = play(go, follow("C3"), follow("C3"))[0]
    assert (centre.result, winner(centre), centre.moves) == ("B+17.5", 0, "B C3 W pass B pass")


def test_a_resignation_ends_the_game_without_a_count(go: Game) -> None:
    first, second = play(go, always(RESIGN), always(PASS), claims=("B+1.5", "B+1.5"))
    assert (first.result, winner(first), first.ended, first.claims) == ("W+R", 1, "resignation", (None, None))
    assert (second.result, winner(second)) == ("B+R", 1)


def test_an_illegal_move_loses_its_game_and_is_explained(go: Game) -> None:
    first, second = play(go, follow("C3"), follow("C3", "C3"))
    assert (first.result, winner(first), first.ended) == ("B+F", 0, "illegal move")
    assert "C3" in first.detail
    assert second.ended == "two passes"


def test_the_referee_knows_ko(go: Game) -> None:
    ko = ("C4", "D4", "B3", "E3", "C2", "D2", "A1", "C3", "D3", "C3")  # White takes back at once
    first, _ = play(go, follow(*ko), follow(*ko))
    assert (first.ended, len(first.moves.split()), winner(first)) == ("illegal move", 2 * 9, 0)


def test_a_failing_player_loses_its_games_but_not_the_match(go: Game) -> None:
    records = play(go, always(Fault("failure", "engine x: ended without answering")), always(PASS), games=4)
    assert [record.ended for record in records] == ["failure"] * 4
    assert [winner(record) for record in records] == [1] * 4
    assert {record.detail for record in records} == {"engine x: ended without answering"}


def test_a_player_that_cannot_begin_loses_that_game(go: Game) -> None:
    class Unready(Scripted):
        def begin(self, slot: int, *, seed: int) -> Fault | None:
            super().begin(slot, seed=seed)
            return Fault("refusal", "unacceptable size") if len(self.begun) == 1 else None

    records = list(play_match((Unready(always(PASS)), Scripted(always(PASS))), go, games=2))
    assert [record.ended for record in records] == ["refusal", "two passes"]
    assert winner(records[0]) == 1


def test_the_move_limit_counts_the_board(go: Game) -> None:
    first, _ = play(go, follow("C3", "pass", "B2", "pass"), follow("C3", "pass", "B2", "pass"), max_moves=3)
    assert (first.ended, first.moves, first.result) == ("move limit", "B C3 W pass B B2", "B+17.5")


@pytest.mark.parametrize("plies", [3, 4])
def test_a_game_without_points_that_is_cut_is_drawn(plies: int) -> None:
    moves = ("A5", "B5", "C5", "D5")  # of a board of SIZE: the first four points of this one
    first, _ = play(games.make("tictactoe"), follow(*moves), follow(*moves), max_moves=plies)
    assert (first.ended, first.result, first.winner) == ("move limit", "0", "")


def test_pairs_share_an_opening_and_swap_colours(go: Game) -> None:
    records = play(go, always(PASS), always(PASS), games=6, opening_moves=4)
    openings = [tuple(record.moves.split()[:8]) for record in records]
    assert [record.black[0] for record in records] == ["0", "1"] * 3
    assert openings[0] == openings[1] and openings[2] == openings[3]
    assert len(set(openings)) == 3
    assert len({record.moves for record in records}) == 3
    assert openings[0][::2] == ("B", "W", "B", "W")


def test_games_in_parallel_are_the_same_games(go: Game) -> None:
    def match(parallel: int) -> list[tuple[str, str]]:
        records = play_match((RandomPlayer(), RandomPlayer()), go, games=8, parallel=parallel, seed=5)
        return [(record.result, record.moves) for record in sorted(records, key=lambda record: record.index)]

    serial = match(1)
    assert match(3) == serial
    assert match(8) == serial
    assert len(set(serial)) == 8


@pytest.mark.parametrize(
    ("text", "winner"), [("B+3.5", BLACK), ("w+R", WHITE), ("0", 0), ("Draw", 0), ("?", None), ("cannot score", None)]
)
def test_winner_named(text: str, winner: int | None) -> None:
    assert winner_named(text) == winner
