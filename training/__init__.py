"""What makes weights: self-play, records, replay, the learner and the loop that joins them. Neither engine nor front end import it.

docs/training.md shows the cycle; `training.loop` is the whole of it on one screen. Nothing is imported here.
"""
