"""`gozero` is the command `gozero`."""

import sys

from gozero.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
