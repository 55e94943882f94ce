"""The command `python -m training.loop`: the whole cycle, from self-play to new weights."""

from training.commands.train import main

if __name__ == "__main__":
    raise SystemExit(main())
