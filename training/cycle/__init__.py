"""The order of a run's parts, in three modes, and a sitting: from one start of a run to its next stop."""
