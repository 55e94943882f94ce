"""The command `python -m training.imitate`: the course's policies, from the winners' moves."""

from training.course.imitation import main

if __name__ == "__main__":
    raise SystemExit(main())
