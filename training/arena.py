"""The command `python -m training.arena`: a match between two players."""

from training.matches.arena import main

if __name__ == "__main__":
    raise SystemExit(main())
