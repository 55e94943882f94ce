"""The command `python -m training.reinforce`: the course's policies, by REINFORCE."""

from training.course.reinforcement import main

if __name__ == "__main__":
    raise SystemExit(main())
