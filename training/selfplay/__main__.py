"""`python -m training.selfplay` is `gozero selfplay`."""

import sys

from training.commands.selfplay import main

if __name__ == "__main__":
    sys.exit(main())
