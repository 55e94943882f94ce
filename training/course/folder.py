"""The folder of one course: the networks that its stages made, and what was measured of them.

Vocabulary.
  stage      one file of networks, such as value-0.pt. It is written whole when the stage is done, and found again by
             the next command, which then leaves the stage out.
  settings   plain values that a stage was made with. A stage made with others is an error, not a result.
  results    a JSON file beside a stage's, written when its networks have been measured.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from gozero.games.game import Game
from gozero.system.errors import UserError
from training.course.boards import Course, course_of, game_of
from training.course.networks import Networks, PolicyNetwork, ValueNetwork, new_networks
from training.storage.checkpoint import UNREADABLE
from training.storage.storage import replacing, writing

KINDS = {"value": ValueNetwork, "policy": PolicyNetwork}
SUPERVISED, REINFORCED = "policy-supervised", "policy-reinforced"  # stages


class CourseError(UserError):
    """A stage cannot be made or used; one line that says why and what to do."""


def value_stage(generation: int) -> str:
    """The stage of a generation of value networks."""
    return f"value-{generation}"


@dataclass(frozen=True)
class CourseFolder:
    """The files of a course."""

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

    def generations(self) -> int:
        """How many generations of value networks are done."""
        count = 0
        while self.has(value_stage(count)):
            count += 1
        return count

    def has_made(self, stage: str, settings: Mapping[str, Any], options: Mapping[str, str] | None = None) -> bool:
        """Whether the stage is done. CourseError where it was made with other settings, each by the name of its option:
        that in `options`, or else its own.
        """
        if not self.has(stage):
            return False
        made, names = self.content(stage)["settings"], options or {}
        for key, value in settings.items():
            if made.get(key) != value:
                option = f"--{names.get(key, key).replace('_', '-')}"
                raise CourseError(
                    f"{self.file(stage)} was made with {option} {made.get(key)}, not {value}; give {option} "
                    f"{made.get(key)}, or another --run"
                )
        return True

    def save(
        self,
        stage: str,
        kind: str,
        networks: Networks,
        settings: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a stage whole, with whatever plain values and tensors ``more`` has. StorageError where that fails."""
        content = {
            "game": self.course.game,
            "kind": kind,
            "settings": dict(settings),
            "networks": [network.state_dict() for network in networks],
            **(more or {}),
        }
        with writing(self.file(stage)), replacing(self.file(stage)) as file:
            torch.save(content, file)

    def content(self, stage: str) -> dict[str, Any]:
        """All that a stage's file holds. CourseError where it is missing, damaged or another game's."""
        path = self.file(stage)
        if not path.exists():
            raise CourseError(f"there is no {path}: run the stage that makes it first")
        try:
            content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
            game = content["game"]
        except UNREADABLE:
            raise CourseError(
                f"cannot read {path}: it is damaged, or no file of the course; remove it to make it anew"
            ) from None
        if game != self.course.game:
            raise CourseError(f"{path} plays {game}, not {self.course.game}")
        return content

    def load(self, stage: str) -> Networks:
        """The networks of a stage. CourseError as `content`."""
        content = self.content(stage)
        return self.restored(content["kind"], content["networks"], self.file(stage))

    def restored(self, kind: str, states: list[dict[str, torch.Tensor]], path: Path) -> Networks:
        """Networks with these weights, ready to answer. CourseError where they are of another shape."""
        networks = new_networks(KINDS[kind], self.game, self.course, 0)
        try:
            for network, state in zip(networks, states, strict=True):
                network.load_state_dict(state)
                network.eval()
        except (RuntimeError, ValueError):
            raise CourseError(
                f"the networks in {path} have another shape than this version's; give another --run"
            ) from None
        return networks

    def digest(self, stage: str) -> str:
        """sha256 of a stage's file, so that results name the networks that they are of. CourseError where it cannot be
        read.
        """
        try:
            return hashlib.sha256(self.file(stage).read_bytes()).hexdigest()
        except OSError as error:
            raise CourseError(f"cannot read {self.file(stage)}: {error.strerror}") from None

    def results(self, stage: str) -> dict[str, Any] | None:
        """What was measured of a stage; None where nothing was, or the file is damaged."""
        try:
            found = json.loads((self.path / f"{stage}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def save_results(self, stage: str, results: Mapping[str, Any]) -> None:
        """Write what was measured. StorageError where that fails."""
        path = self.path / f"{stage}.json"
        with writing(path), replacing(path) as file:
            file.write((json.dumps(results, indent=1) + "\n").encode())

    def save_picture(self, stage: str, picture: bytes) -> Path:
        """Write a PNG beside a stage and return its path. StorageError where that fails."""
        path = self.path / f"{stage}.png"
        with writing(path), replacing(path) as file:
            file.write(picture)
        return path
