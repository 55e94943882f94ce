"""Training: self-play, records, replay, the learner and the loop that joins them. Neither the engine nor the front ends
import it.

docs/training.md shows the cycle; `training.run.modes` has the whole of it on one screen. Nothing is imported
here. A command imports for seconds before its `main` begins: Ctrl-C ends that without a traceback, and a missing
PyTorch, which only training needs, is one line.
"""
