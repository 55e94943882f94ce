"""A whole gozero-gtp in this process, without weights: random playouts stand in for the network."""

import os
import threading
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
from gozero.system.streams import ProtocolOutput, arriving_lines
from gtp.__main__ import make_protocol
from gtp.protocol import Command, LineReader, Protocol, Signals, serve
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


class Conversation:
    """An engine behind real pipes, in a thread; `ponder` as in `serve`."""

    def __init__(self, engine: Engine, ponder: Callable[[], None] = lambda: None) -> None:
        source, self._to_engine = os.pipe()
        from_engine, sink = os.pipe()
        self._answers = os.fdopen(from_engine, encoding="utf-8", newline="")
        signals = engine.session.signals = Signals()

        def answer() -> None:
            serve(engine.protocol, LineReader(arriving_lines(source), signals), ProtocolOutput(sink), ponder=ponder)
            os.close(sink)

        self._thread = threading.Thread(target=answer, daemon=True)
        self._thread.start()

    def send(self, text: str) -> None:
        os.write(self._to_engine, text.encode())

    def line(self) -> str:
        return self._answers.readline()

    def close(self) -> str:
        """End the input. Returns what was still answered."""
        os.close(self._to_engine)
        with self._answers:
            rest = self._answers.read()
        self._thread.join(10)
        assert not self._thread.is_alive()
        return rest


def answer_to(protocol: Protocol, line: str) -> str | None:
    """All that is written for a line, or None."""
    pieces: list[str] = []
    protocol.answer(line, pieces.append)
    return "".join(pieces) or None


def _fail(command: Command, error: Exception) -> None:
    raise AssertionError(f"bug in {command}") from error
