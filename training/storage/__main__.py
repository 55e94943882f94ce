"""The command `python -m training.storage`: the copy of a run in a store: show, fetch."""

from training.storage.command import main

if __name__ == "__main__":
    raise SystemExit(main())
