"""`python -m training.table`: see `training.table.command`."""

import sys

if __name__ == "__main__":
    from training.table.command import main

    sys.exit(main())
