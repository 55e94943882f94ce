"""The first board in the browser: the claim is that it is drawn within 1 s of the command on a second start.

The clock runs from before `gozero-web` is started until a Chromium that is open already has drawn the points of the
board. CPU/wall is the processor time of server and engine, without Chromium's, per second of a start. Run it with
`python -m benchmarks.web_start`; it needs Chromium and what `make test` installs.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks.harness import machine, parser
from benchmarks.web_memory import served

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLAIM = 1.0  # seconds


def start(page: Page) -> tuple[float, float]:
    """Seconds until the board is drawn, and processor seconds of the server and its engine until they have ended."""
    before, begun = _children(), time.perf_counter()
    with served() as (_, address):
        page.goto(address)
        page.locator(".shudan-vertex").first.wait_for()
        taken = time.perf_counter() - begun
    page.goto("about:blank")
    return taken, _children() - before


def _children() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def main() -> None:
    chosen = parser(__doc__ or "").parse_args()
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("web_start: Chromium is not on the PATH: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    print(f"From the command to the first board\n  {machine()}", flush=True)
    with sync_playwright() as playwright, playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", "--disable-gpu"]
    ) as browser:  # fmt: skip
        page = browser.new_page()
        print(f"  first start, caches as they were: {start(page)[0]:.2f} s", flush=True)
        found = [start(page) for _ in range(1 if chosen.short else chosen.runs)]
    taken = [seconds for seconds, _ in found]
    share = statistics.median(used / seconds for seconds, used in found)
    print(
        f"  median {statistics.median(taken):.2f} s, worst {max(taken):.2f} s of {len(taken)}; CPU/wall {share:.2f}; "
        f"claimed within {CLAIM:g} s"
    )


if __name__ == "__main__":
    main()
