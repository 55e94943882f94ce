"""The command `python -m training.records`: the games of self-play: list, show, summary, check, export."""

from training.records.browse import main

if __name__ == "__main__":
    raise SystemExit(main())
