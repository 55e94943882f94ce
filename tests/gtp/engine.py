"""A whole gozero-gtp in this process, without weights: random playouts stand in for the network."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gozero import games
from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import Game
from gozero.nets.weights import Header
from gozero.play.engine import LCB, supported_sizes
from gozero.play.player import Player, make_player
from gozero.search.settings import SearchSettings
from gtp.__main__ import make_protocol
from gtp.protocol import Command, Protocol, Signals
from gtp.session import Session
from gtp.settings import GtpSettings, player_settings


class Engine:
    """Asks commands and checks the frame of every answer; a bug inside a command is an error here."""

    def __init__(
        self,
        settings: GtpSettings | None = None,
        open_evaluator: Callable[[Game], Evaluator] = RolloutEvaluator,
        trained: Sequence[int] = (),
        max_memory: int | None = None,
    ) -> None:
        settings = settings or GtpSettings(visits=8, seed=1, size=9)
        game = settings.game or "go"
        size = settings.size or games.usual(game, "size")
        sizes = supported_sizes(Header(game))
        self.signals = Signals()
        self.signals.end_of_input()  # nobody sends the line that ends an analysis: each gives one look
        how = replace(
            player_settings(settings, game), search=SearchSettings(max_nodes=2000, lcb=LCB), max_memory=max_memory
        )

        def begin() -> Player:
            return make_player(game, sizes, open_evaluator, how, size=size, komi=settings.komi)

        self.session = Session(settings, begin, self.signals, trained=trained)
        self.protocol = make_protocol(self.session, game, on_bug=_fail)

    def ask(self, line: str) -> str:
        """The text of a successful answer."""
        answer = self.answer(line)
        assert answer.startswith("="), f"{line!r} was answered {answer!r}"
        return answer[1:].strip()

    def refuse(self, line: str) -> str:
        """The text of an error."""
        answer = self.answer(line)
        assert answer.startswith("?"), f"{line!r} was answered {answer!r}"
        return answer[1:].strip()

    def answer(self, line: str) -> str:
        answer = answer_to(self.protocol, line)
        assert answer is not None
        assert answer.endswith("\n\n")
        assert "\n\n" not in answer[:-2]
        return answer

    def ask_all(self, *lines: str) -> None:
        for line in lines:
            self.ask(line)


def answer_to(protocol: Protocol, line: str) -> str | None:
    """All that is written for a line, or None."""
    pieces: list[str] = []
    protocol.answer(line, pieces.append)
    return "".join(pieces) or None


def _fail(command: Command, error: Exception) -> None:
    raise AssertionError(f"bug in {command}") from error
