"""The games as gymnasium environments, for agents from elsewhere: `gozero/Go-v0`, `gozero/Othello-v0` and so on, see
`NAMES`.

    import gymnasium, training.matches.gym_env
    env = gymnasium.make("gozero/Go-v0", size=9, opponent="random")

Importing this module registers the environments. docs/gym.md says what is observed, done and rewarded: observations are
float32 [C, H, W], the planes of `gozero.nets.features`, from the view of the side to move; actions the points, pass and
resign. The opponent, any player of `training.matches.interface.DESCRIPTIONS`, answers inside `step`; without one the
agent plays both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"this needs {error.name}; run: pip install 'gozero[train,gym]'") from None

from gozero import games
from gozero.games.colours import COLOURS
from gozero.games.game import BLACK, TO_PLAY, WHITE
from gozero.games.position import IllegalMove, Position
from gozero.nets import features
from training.matches.interface import ROLLOUT_PLAYERS, Conditions, Fault, MatchPlayer, Turn
from training.matches.players import open_player
from training.records import scoring
from training.settings.config import SelfPlaySettings

WRITTEN = {"nogo": "NoGo", "tictactoe": "TicTacToe"}  # names that are not written as the others are
NAMES = {WRITTEN.get(game, game.title().replace("_", "")): game for game in games.GAMES}
"""The environments, `gozero/NAME-v0`, and their names in `gozero.games`."""
MOST_SECONDS = 1e6  # of a move: eleven days
_SLOT = 0  # an environment plays one game at a time


class BoardEnv(gymnasium.Env[np.ndarray, np.int64]):
    """One game after another against one opponent. Before the first `reset`, after `close`, and for a move after a
    game's end gymnasium.error.ResetNeeded is raised.

    Args:
        game: name in `gozero.games`.
        size: points a side, or columns where the board is not square; None takes the game's usual one.
        opponent: a description of `training.matches.players`, or None: the agent plays both sides.
        colour: the agent's: black, white, or random (drawn at each reset).
        komi: points for White; None takes the size's usual one (9.5 on 7x7, else 7.5). Only Go has a komi.
        rules: name of a rule set; None takes the game's usual one.
        move_seconds: what a GTP engine may take for one answer.
        render_mode: None, "ansi" (`render` returns a diagram) or "human" (each position is printed).

    Raises:
        ValueError: a size, komi, colour, rule set or render mode that does not exist, or a setting that the game does
            not have.
        PlayerError: a description that makes no player. Both are one line.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 1}  # noqa: RUF012 - the form that gymnasium asks for

    def __init__(
        self,
        game: str = "go",
        *,
        size: int | None = None,
        opponent: str | None = "random",
        colour: str = "black",
        komi: float | None = None,
        rules: str | None = None,
        move_seconds: float = 60.0,
        render_mode: str | None = None,
    ) -> None:
        if colour not in (*COLOURS, "random"):
            raise ValueError(f"unknown colour {colour!r}: expected black, white or random")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"unknown render_mode {render_mode!r}: expected None, ansi or human")
        if not 0 < move_seconds <= MOST_SECONDS:
            raise ValueError(f"move_seconds {move_seconds:g}: expected above 0, and at most {MOST_SECONDS:,.0f}")
        limit = None
        if game == scoring.GO:
            scoring.check_rules(rules)
            size = games.usual(game, "size") if size is None else size
            komi = scoring.usual_komi(game, size) if komi is None else komi
            if not abs(komi) <= games.MOST_KOMI:
                raise ValueError(f"komi {komi:g}: expected -{games.MOST_KOMI} to {games.MOST_KOMI}")
            limit = int(SelfPlaySettings().max_length * size * size)  # moves after which self-play's games end too
        self.game = games.make(game, size=size, rules=rules, komi=komi, move_limit=limit)
        self.observation_space = spaces.Box(0.0, 1.0, (len(features.layout(game).planes), *self.game.shape), np.float32)
        self.action_space = spaces.Discrete(self.game.actions)
        self.render_mode = render_mode
        self._wanted_colour, self._description = colour, opponent
        self._conditions = Conditions(self.game, komi or 0.0, move_seconds=move_seconds, threads=1)
        self._opponent = None if opponent is None else open_player(opponent, self._conditions)
        self._position: Position | None = None
        self._colour = BLACK
        self._loser: int | None = None  # who resigned or forfeited
        self._illegal = False
        self._fault = ""  # of the opponent

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A new game; as White, after Black's first move. The same seed gives the same game for the same actions,
        engines of others aside.

        Raises:
            gymnasium.error.Error: the opponent cannot begin.
            PlayerError: after `close`, it cannot be opened again. Both are one line.
        """
        super().reset(seed=seed)
        self._position = Position(self.game)
        self._colour = COLOURS.get(self._wanted_colour, int(self.np_random.integers(BLACK, WHITE, endpoint=True)))
        self._loser, self._illegal, self._fault = None, False, ""
        if self._description is not None:
            is_seeded = seed is not None and self._description.partition(":")[0] in ROLLOUT_PLAYERS
            if self._opponent is None or is_seeded:  # after `close`, or to seed its playouts again
                self._opponent = open_player(self._description, self._conditions)
            fault = self._opponent.begin(_SLOT, seed=int(self.np_random.integers(2**63)))
            self._fault = fault.text if fault else ""
            if self._colour == WHITE and not self._fault:
                self._answer(self._opponent)
            if self._fault:
                self._position = None
                raise gymnasium.error.Error(self._fault)
        if self.render_mode == "human":
            self.render()
        return self.seen_by(self.position.to_play)

    def step(self, action: np.int64 | int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """The agent's move and the opponent's answer: (observation, reward, terminated, truncated, info)."""
        reward = self.play(int(action))
        observation, info = self.seen_by(self.position.to_play)
        return observation, reward, self.is_over, bool(self._fault), info

    def play(self, action: int) -> float:
        """What `step` does, without an observation. Returns the reward."""
        if self.is_over or self._fault:
            raise gymnasium.error.ResetNeeded("no game is in progress: call reset()")
        mover = self.position.to_play
        if self._move(action):
            self._loser, self._illegal = mover, True
        if self._opponent is not None and not self.is_over:
            self._answer(self._opponent)
        if self.render_mode == "human":
            self.render()
        return self._reward(mover if self._opponent is None else self._colour)

    def action_masks(self) -> np.ndarray:
        """bool [A]: the legal actions, as MaskablePPO of sb3-contrib asks for them."""
        return self.position.legal()

    def seen_by(self, colour: int) -> tuple[np.ndarray, dict[str, Any]]:
        """(observation, info) of the position as one side sees it, which has legal actions only if it is to move."""
        position = self.position
        state = position.state.copy()
        state[TO_PLAY] = colour
        planes, numbers = features.encode(position.game, state[None])
        mask = position.legal() & (position.to_play == colour and self._loser is None)
        has_score = position.is_over and self._loser is None and position.game.score is not None
        info = {
            "action_mask": mask.astype(np.int8),
            "globals": numbers[0],
            "colour": colour if self._opponent is None else self._colour,
            "moves": len(position.moves),
            "score": position.score() if has_score else 0.0,
            "illegal": self._illegal,
        }
        if self._fault:
            info["fault"] = self._fault
        return planes[0], info

    @property
    def position(self) -> Position:
        if self._position is None:
            raise gymnasium.error.ResetNeeded("no game is in progress: call reset()")
        return self._position

    @property
    def is_over(self) -> bool:
        return self._loser is not None or self.position.is_over

    def _move(self, action: int) -> str:
        """Play a move, or resign; what is wrong with it, if it is illegal."""
        if action == self.game.resign_action:
            self._loser = self.position.to_play
            return ""
        try:
            self.position.play(action)
        except IllegalMove as error:
            return str(error)
        return ""

    def _answer(self, opponent: MatchPlayer) -> None:
        answer = opponent.choose([Turn(_SLOT, self.position)])[0]
        if isinstance(answer, Fault):
            self._fault = answer.text
        elif error := self._move(answer):
            self._fault = f"the opponent, {opponent.name}: {error}"

    def _reward(self, view: int) -> float:
        """+1, 0 or -1 for the colour `view`; 0 while the game goes on."""
        if not self.is_over:
            return 0.0
        if self._loser is not None:
            return -1.0 if self._loser == view else 1.0
        return float(self.position.outcome() * (1 if self.position.to_play == view else -1))

    def render(self) -> str | None:
        """The diagram of the position in mode "ansi"; in mode "human" it goes to stdout."""
        text = "no game yet" if self._position is None else str(self._position)
        if self.render_mode == "human":
            print(text, flush=True)
        return text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the game, the opponent's processes and its memory; `reset` opens them again."""
        self._position = None
        if self._opponent is not None:
            self._opponent.close()
            self._opponent = None


for _name, _game in NAMES.items():
    gymnasium.register(id=f"gozero/{_name}-v0", entry_point=f"{__name__}:{BoardEnv.__name__}", kwargs={"game": _game})
