"""A run on many machines through Ray: the same cycle, whose parts work elsewhere. Only this package imports ray.

Ray reads this variable when it is imported: it sends no usage statistics.
"""

import os

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
