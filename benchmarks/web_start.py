"""The first board in the browser: the claim is that it is drawn within 1 s of the command on a second start.

The clock runs from before `gozero-web` is started until a Chromium that is open already has drawn the points of the
board. CPU/wall is the processor time of server and engine, without Chromium's, per second of a start: where it is far
below 1, other programs were running. Run it with `python -m benchmarks.web_start`; it needs Chromium and what `make
test` installs.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import finish, machine, need_program, parser
from benchmarks.web_memory import family, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLAIM = 1.0  # seconds


def start(page: Page) -> tuple[float, float]:
    """Seconds until the board is drawn, and the processor seconds that server and engine have used by then."""
    begun = time.perf_counter()
    with served() as (process, address):
        page.goto(address)
        page.locator(".shudan-vertex").first.wait_for()
        taken = time.perf_counter() - begun
        used = sum(processor_seconds(number) for number in family(process.pid))
    page.goto("about:blank")
    return taken, used


def processor_seconds(number: int) -> float:
    """Of a process and all its threads, so far (Linux)."""
    fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    chosen = parser(__doc__ or "").parse_args()
    program = need_program("chromium", "apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise SystemExit("web_start: this needs playwright; run: pip install 'gozero[test]'") from None

    print(f"From the command to the first board\n  {machine()}", flush=True)
    with sync_playwright() as playwright, playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", "--disable-gpu"]
    ) as browser:  # fmt: skip
        page = browser.new_page()
        print(f"  first start, caches as they were: {start(page)[0]:.2f} s", flush=True)
        found = [start(page) for _ in range(1 if chosen.short else chosen.runs)]
    taken = [seconds for seconds, _ in found]
    used = statistics.median(used for _, used in found)
    print(
        f"  median {statistics.median(taken):.2f} s, worst {max(taken):.2f} s of {len(taken)}; server and engine had "
        f"used {used:.2f} s of processor time (median), CPU/wall {used / statistics.median(taken):.2f}; claimed within {CLAIM:g} s"
    )


if __name__ == "__main__":
    finish(main)
