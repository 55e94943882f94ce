"""The command `python -m training.generations`: the course's value networks, generation by generation."""

from training.course.generations import main

if __name__ == "__main__":
    raise SystemExit(main())
