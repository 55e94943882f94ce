"""A GTP engine for tic-tac-toe that plays the first free point, or makes trouble. Not a test.

    python engine.py sound | crash | silent | loud | babble | illegal | endless | slow SECONDS | killer FILE N | assassin

`loud` writes a lot to stderr and plays on; `endless` writes nonsense without end; `killer` kills the process that runs
the tournament at its Nth move, counted in FILE over all games; `assassin` kills the process that plays its game.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

POINTS = [f"{column}{row}" for row in (1, 2, 3) for column in "ABC"]


def kill_the_tournament(file: Path, moment: int) -> None:
    """Count this move; kill once. Several processes may count at the same time."""
    with file.open("ab") as count:
        count.write(b".")
    try:
        if file.stat().st_size >= moment:
            file.with_name("killed").touch(exist_ok=False)
            above = subprocess.check_output(["ps", "-o", "ppid=", "-p", str(os.getppid())], text=True)
            os.kill(int(above), signal.SIGKILL)
            sys.stdin.read()
    except FileExistsError:
        pass


def generate(taken: set[str], trouble: str) -> str:
    if trouble == "crash" and taken:
        print("out of memory, or so", file=sys.stderr)
        os._exit(3)
    if trouble == "silent":
        sys.stdin.read()
    if trouble == "slow":
        time.sleep(float(sys.argv[2]))
    if trouble == "killer":
        kill_the_tournament(Path(sys.argv[2]), int(sys.argv[3]))
    if trouble == "assassin":
        os.kill(os.getppid(), signal.SIGKILL)
        sys.stdin.read()
    while trouble == "endless":
        sys.stdout.write("nonsense\n" * 1000)
    if trouble == "babble":
        return "a fine move indeed"
    if trouble == "illegal" and taken:
        return min(taken)
    return next(point for point in POINTS if point not in taken)


def main() -> None:
    trouble, taken = sys.argv[1], set[str]()
    for line in sys.stdin:
        words, answer = line.split(), ""
        if words[0] == "clear_board":
            taken = set()
        elif words[0] == "protocol_version":
            answer = "2"
        elif words[0] == "name":
            answer = f"Toy {trouble}"
        elif words[0] == "play":
            taken.add(words[2].upper())
        elif words[0] == "genmove":
            answer = generate(taken, trouble)
            taken.add(answer)
        if trouble == "loud":
            sys.stderr.write("warning! " * 20_000)
        print(f"= {answer}\n", flush=True)
        if words[0] == "quit":
            return


main()
