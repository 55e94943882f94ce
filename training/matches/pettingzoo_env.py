"""The games as PettingZoo environments for two agents, which move in turn:

    from training.matches import pettingzoo_env
    env = pettingzoo_env.env("go", size=9)

docs/gym.md says what is observed, done and rewarded: the same as in `training.matches.gym_env`, whose environment
without an opponent plays the game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from training.matches.gym_env import BoardEnv

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"this needs {error.name}; run: pip install 'gozero[train,gym]'") from None

from gozero.games.game import BLACK, WHITE

AGENTS = {"black_0": BLACK, "white_0": WHITE}


def env(game: str = "go", **settings: Any) -> OrderEnforcingWrapper:
    """A `BoardAEC` that refuses calls in the wrong order, as PettingZoo's own environments do."""
    return OrderEnforcingWrapper(BoardAEC(game, **settings))


class BoardAEC(AECEnv[str, dict[str, np.ndarray], int]):
    """One game after another between the agents black_0 and white_0.

    An observation is a dict of `observation`, float32 [C, H, W] from the agent's own view, and `action_mask`, int8 [A],
    0 everywhere if it is not to move. Arguments and errors are those of `gym_env.BoardEnv`.
    """

    metadata = {**BoardEnv.metadata, "name": "gozero_v0", "is_parallelizable": False}  # noqa: RUF012 - as there

    def __init__(
        self, game: str = "go", *, size: int | None = None, komi: float | None = None, rules: str | None = None,
        render_mode: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.board = BoardEnv(game, size=size, opponent=None, komi=komi, rules=rules, render_mode=render_mode)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        mask = spaces.Box(0, 1, (self.board.game.actions,), np.int8)
        seen = {"observation": self.board.observation_space, "action_mask": mask}
        self.observation_spaces = {agent: spaces.Dict(seen) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(self.board.game.actions) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game. There is no chance in it; a seed changes nothing."""
        self.board.reset(seed=seed)
        self.agents = list(AGENTS)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self._update(dict.fromkeys(AGENTS, 0.0))

    def step(self, action: int | None) -> None:
        """Play an action of `agent_selection`, or None for an agent whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None
        reward = self.board.play(action)
        self._cumulative_rewards[agent] = 0.0
        self._update({other: reward if other == agent else -reward for other in AGENTS})

    def _update(self, rewards: dict[str, float]) -> None:
        self.rewards = rewards
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(AGENTS, self.board.is_over)
        self.truncations = dict.fromkeys(AGENTS, False)
        seen = {agent: self.board.seen_by(colour) for agent, colour in AGENTS.items()}
        self._planes = {agent: planes for agent, (planes, _) in seen.items()}
        self.infos = {agent: info for agent, (_, info) in seen.items()}
        to_play = self.board.position.to_play
        self.agent_selection = next(agent for agent, colour in AGENTS.items() if colour == to_play)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        return {"observation": self._planes[agent], "action_mask": self.infos[agent]["action_mask"]}

    def render(self) -> str | None:
        return self.board.render()

    def close(self) -> None:
        self.board.close()
