"""The command `python -m training.play`: a strategy of the course on the terminal, or as a GTP engine."""

from training.course.seat import main

if __name__ == "__main__":
    raise SystemExit(main())
