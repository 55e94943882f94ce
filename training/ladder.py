"""The command `python -m training.ladder`: the score against ever stronger opponents."""

from training.matches.ladder import main

if __name__ == "__main__":
    raise SystemExit(main())
