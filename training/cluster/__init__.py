"""A run on many machines through Ray: the same cycle, whose parts work elsewhere. Only this package imports ray.

Ray reads these variables when it is imported; where it has been, they stay as they are. It sends no usage statistics.
And where there is a token it is used: `ray start --head` does so by itself, but a node or driver that is given an
address would come without and be refused.
"""

import os
import sys

# resources of a node: room for a worker, and for one with a GPU
WORKER, GPU_WORKER = "gozero_worker", "gozero_gpu_worker"
TOKEN = os.path.expanduser("~/.ray/auth_token")  # noqa: PTH111 - never raises, also without a home

if "ray" not in sys.modules:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & set(os.environ) or os.path.exists(TOKEN):  # noqa: PTH110 - likewise
        os.environ.setdefault("RAY_AUTH_MODE", "token")
