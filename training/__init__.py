"""What makes weights: self-play, records, replay, the learner and the loop that joins them. Imported by neither the engine nor the front end.

docs/training.md shows the cycle; `training.loop` is the whole of it on one screen. Nothing is imported here.
"""
