"""The command `python -m training.truth`: how often the value of a position is kept, in solved games."""

from training.matches.truth import main

if __name__ == "__main__":
    raise SystemExit(main())
