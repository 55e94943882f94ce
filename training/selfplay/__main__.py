"""The command `gozero selfplay`: games of self-play."""

from training.commands.selfplay import main

if __name__ == "__main__":
    raise SystemExit(main())
