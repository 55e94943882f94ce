"""`python -m training.tournament`: see `training.tournament.command`."""

import sys

if __name__ == "__main__":
    from training.tournament.command import main

    sys.exit(main())
