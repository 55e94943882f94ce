"""The search of self-play: a run's settings and a stage of it, as the settings of `gozero.search`."""

from __future__ import annotations

from gozero.search.settings import SearchSettings
from training.settings.config import SelfPlaySettings, Stage


def stage_search(settings: SelfPlaySettings, stage: Stage) -> SearchSettings:
    """The settings of a stage's searches.

    With rollouts the root is PUCT and its visits are the target: they are too noisy for a Gumbel root's completed
    values.
    """
    network = stage.evaluator == "network"
    root = settings.root if network else "puct"
    return SearchSettings(
        root=root,
        c_puct=settings.c_puct,
        fpu=settings.fpu,
        gumbel_m=settings.gumbel_m,
        c_visit=settings.c_visit,
        c_scale=settings.c_scale,
        score_weight=settings.score_weight if network else 0.0,  # playouts have no score
        dirichlet_weight=settings.dirichlet_weight if network else 0.0,  # playouts are noise enough
        dirichlet_total=settings.dirichlet_total,
        dirichlet_alpha=settings.dirichlet_alpha,
        forced_playouts=settings.forced_playouts if network else 0.0,
        max_nodes=4 * max(stage.full_visits, stage.cheap_visits) + 64,  # a kept tree and the new search
    )
