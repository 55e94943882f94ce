"""The command `python -m training.table`: a published table of results, played again with your weights."""

import sys

if __name__ == "__main__":
    from training.matches.table.command import main

    sys.exit(main())
