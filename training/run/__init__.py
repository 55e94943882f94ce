"""A run in its folder: the coordinator and its session, the three modes, what a run begins with and will cost."""
