"""The command `python -m training.storage`: a run's second home: show, fetch."""

from training.storage.command import main

if __name__ == "__main__":
    raise SystemExit(main())
