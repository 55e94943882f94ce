"""The command `python -m training.worker`: this machine's workers for a run on a cluster."""

import sys
from importlib.util import find_spec

if __name__ == "__main__":
    if find_spec("ray") is None:
        sys.exit("training.worker: Ray is not installed; run: pip install '.[distributed]' in the folder of the source")
    from training.cluster.node import main

    raise SystemExit(main())
