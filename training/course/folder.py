"""The folder of one course: the networks that its stages made, and what was measured of them.

A stage is one file of networks, such as value-0.pt, with the settings that it was made with. It is written whole when
the stage is done, and found again by the next command, which then leaves the stage out. A JSON file beside it has what
was measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import torch

from gozero.games.game import Game
from gozero.system import files
from gozero.system.console import say
from gozero.system.errors import UserError
from training.course.boards import Course, course_of, game_of
from training.course.networks import Networks, PolicyNetwork, ValueNetwork, new_networks
from training.elo import MatchScore
from training.storage.checkpoint import UNREADABLE, loaded
from training.storage.storage import alone, writing

KINDS = {"value": ValueNetwork, "policy": PolicyNetwork}
SUPERVISED, REINFORCED = "policy-supervised", "policy-reinforced"  # stages


def value_stage(generation: int) -> str:
    return f"value-{generation}"


@dataclass(frozen=True)
class CourseFolder:
    path: Path
    course: Course
    game: Game

    @classmethod
    def of(cls, path: Path, game: str) -> CourseFolder:
        """The folder for a game of the course, whether or not it is there yet."""
        course = course_of(game)
        return cls(path, course, game_of(course))

    def file(self, stage: str) -> Path:
        return self.path / f"{stage}.pt"

    def has(self, stage: str) -> bool:
        """Whether the stage is done."""
        return self.file(stage).exists()

    def newest(self, generation: int | None) -> int:
        """The generation of value networks to use, None: the newest. UserError if it is not there."""
        found = next(number for number in count() if not self.has(value_stage(number)))
        if found == 0 or (generation is not None and generation >= found):
            wanted = "value networks" if generation is None else f"value networks of generation {generation}"
            more = "" if generation is None else f" --generations {generation + 1}"
            raise UserError(f"there are no {wanted} in {self.path}: first run {self.command('generations')}{more}")
        return found - 1 if generation is None else generation

    def command(self, name: str) -> str:
        """The command line that makes a stage here."""
        return f"gozero course {name} --game {self.course.game} --run {self.path}"

    def has_made(self, stage: str, settings: Mapping[str, Any]) -> bool:
        """Whether the stage is done, which is said. UserError if it was made with other settings."""
        if not self.has(stage):
            return False
        made = self.content(stage)["settings"]
        for key, value in settings.items():
            if made.get(key) != value:
                raise UserError(
                    f"{self.file(stage)} was made with {key.replace('_', ' ')} {made.get(key)}, not {value}; give that, or "
                    "another --run"
                )
        say(f"finished before: {self.file(stage)}")
        return True

    def save(self, stage: str, kind: str, networks: Networks, settings: Mapping[str, Any], **more: Any) -> None:
        """Write a stage whole, with the plain values and tensors of ``more``. StorageError if that fails."""
        states = [network.state_dict() for network in networks]
        content = {"game": self.course.game, "kind": kind, "settings": dict(settings), "networks": states, **more}
        (self.path / f"{stage}.json").unlink(missing_ok=True)  # it has measured other networks
        with writing(self.file(stage)), files.replacing(self.file(stage)) as file:
            torch.save(content, file)

    def content(self, stage: str) -> dict[str, Any]:
        """All that a stage's file holds. UserError if it is missing, damaged or another game's."""
        path = self.file(stage)
        if not path.exists():
            maker = {SUPERVISED: "imitate", REINFORCED: "reinforce"}.get(stage, "generations")
            raise UserError(f"there is no {path}: first run {self.command(maker)}")
        try:
            content: dict[str, Any] = loaded(path.read_bytes())
            game = content["game"]
        except UNREADABLE as error:
            damaged = "it is damaged, or no file of the course; remove it to make it anew"
            raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or damaged}") from None
        if game != self.course.game:
            raise UserError(f"{path} plays {game}, not {self.course.game}")
        return content

    def load(self, stage: str) -> Networks:
        """The networks of a stage. UserError as `content`, or if they are of another shape."""
        content = self.content(stage)
        try:
            return self.restored(content["kind"], content["networks"])
        except (RuntimeError, ValueError):
            raise UserError(
                f"the networks in {self.file(stage)} have another shape than this version's; give another --run"
            ) from None

    def restored(self, kind: str, states: list[dict[str, torch.Tensor]]) -> Networks:
        """Networks with these weights, ready to answer. RuntimeError or ValueError if they are of another shape."""
        networks = new_networks(KINDS[kind], self.game, self.course, 0)
        for network, state in zip(networks, states, strict=True):
            network.load_state_dict(state)
            network.eval()
        return networks

    def measured(
        self, stage: str, settings: Mapping[str, Any], measure: Callable[[], Mapping[str, MatchScore]]
    ) -> dict[str, MatchScore]:
        """The scores that `measure` finds; from the JSON file beside the stage, if that has them with these settings.
        StorageError if it cannot be written.
        """
        path = self.path / f"{stage}.json"
        with suppress(FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):  # or damaged
            found = files.from_json(path.read_text(encoding="utf-8"))
            if found.pop("settings") == settings:
                # by their order: draws were ties once
                return {name: MatchScore(*score.values()) for name, score in found.items()}
        scores = dict(measure())
        content = {"settings": settings, **{name: asdict(score) for name, score in scores.items()}}
        self._write(path, (json.dumps(content, indent=1) + "\n").encode())
        return scores

    def _write(self, path: Path, content: bytes) -> None:
        with writing(path), files.replacing(path) as file:
            file.write(content)

    def save_picture(self, stage: str, picture: bytes) -> Path:
        """Write a PNG beside a stage and return its path. StorageError if that fails."""
        path = self.path / f"{stage}.png"
        self._write(path, picture)
        return path


def run(work: Callable[[CourseFolder, argparse.Namespace], None], options: argparse.Namespace, path: Path) -> None:
    """Do a stage's work, alone in its folder."""
    torch.set_num_threads(options.threads)
    with alone(path):
        work(CourseFolder.of(path, options.game), options)
