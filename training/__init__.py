"""Training: self-play, records, replay, the learner and the loop that joins them. Neither the engine nor the front ends
import it.

docs/training.md shows the cycle; `training.cycle.cycle` has the whole of it on one screen. Nothing is imported here.
"""
