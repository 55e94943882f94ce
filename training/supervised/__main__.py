"""The command `python -m training.supervised`: a network from game records instead of self-play."""

from training.supervised.startup import main

if __name__ == "__main__":
    raise SystemExit(main())
