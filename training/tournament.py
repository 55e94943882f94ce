"""The command `python -m training.tournament`: any number of players against each other, with Elo and a page."""

import sys

if __name__ == "__main__":
    from training.matches.tournament.command import main

    sys.exit(main())
