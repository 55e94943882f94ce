"""The command `python -m training.report`: a run as one HTML page."""

from training.doctor.report import main

if __name__ == "__main__":
    raise SystemExit(main())
