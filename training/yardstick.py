"""The command `python -m training.yardstick`: agreement with positions that a strong engine labelled."""

from training.matches.yardstick import main

if __name__ == "__main__":
    raise SystemExit(main())
