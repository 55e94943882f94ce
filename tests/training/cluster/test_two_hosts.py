"""Two hosts and a cable that can be pulled: network namespaces of Linux, each with a loopback, a /tmp/ray and a hostname
of its own.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import ROOT
from tests.training.cluster.conftest import PATIENCE
from tests.training.cluster.test_cluster import SETTINGS, games, whole
from tests.training.run.test_resume import check_same

pytest.importorskip("ray", reason="Ray is not installed: pip install 'gozero[distributed]'")
pytestmark = pytest.mark.slow
HEAD, OTHER, PORT = "10.77.0.1", "10.77.0.2", 6379
TOKEN = "0123456789abcdef" * 4  # with which a head asks for it
SOON = {  # that Ray notices a dead host after seconds instead of a minute
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",
}
__all__ = ["whole"]  # the fixture


def inside_of(process: subprocess.Popen[str]) -> int:
    """The process id, seen from outside, of the program that an unshare or nsenter has started."""
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())


class Host:
    """A network namespace, and the mounts that its programs see."""

    def __init__(self, name: str, address: str, hidden: Path | None = None) -> None:
        """`hidden`: a folder that is not on this host."""
        self.name, self.address = name, address
        mounts = ["/dev/shm", "/tmp/ray", *([str(hidden)] if hidden else [])]
        Path("/tmp/ray").mkdir(exist_ok=True)
        lines = [
            *(f"mount -t tmpfs none {path}" for path in mounts), f"hostname {name}", "echo up", "exec sleep infinity",
        ]  # fmt: skip
        # ray stop looks around
        apart = "unshare --mount --uts --pid --fork --mount-proc --kill-child".split()
        inside = ["ip", "netns", "exec", name, *apart, "sh", "-ec", "\n".join(lines)]
        self._init = subprocess.Popen(inside, stdout=subprocess.PIPE, text=True)
        assert self._init.stdout is not None and self._init.stdout.readline() == "up\n"
        self._first = inside_of(self._init)

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Run a command here."""
        enter = ["nsenter", f"--target={self._first}", "--mount", "--uts", "--net", "--pid", "--", *command]
        environment = os.environ | SOON | {"PYTHONPATH": str(ROOT), "RAY_AUTH_TOKEN": TOKEN}
        del environment["RAY_AUTH_MODE"]  # those that join find it out
        return subprocess.Popen(
            enter, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def head(self) -> None:
        """Start the head."""
        options = ["--head", f"--node-ip-address={self.address}", f"--port={PORT}", "--num-cpus=1"]
        self.ray(
            "start", *options, "--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=100000000"
        )

    def ray(self, *words: str) -> None:
        """Give a command of Ray's."""
        done = self.start(sys.executable, "-c", "from ray.scripts.scripts import main; main()", *words)
        said, _ = done.communicate(timeout=PATIENCE)
        assert done.returncode == 0, said

    def kill(self) -> None:
        """Kill every program here but the first, as where the power fails."""
        found = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, text=True, check=True).stdout
        for process in set(map(int, found.split())) - {self._init.pid, self._first}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self._init.kill()
        self._init.wait()


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[tuple[Host, Host]]:
    """(the one with the run folder, one without it)."""
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("ip", "nsenter", "unshare")):
        pytest.skip("makes network namespaces: needs root, iproute2 and util-linux")
    names = f"gozero-a{os.getpid()}", f"gozero-b{os.getpid()}"
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", names[0], "type", "veth", "peer", "name", "cable", "netns", names[1])
        for name, address, other in zip(names, (HEAD, OTHER), (OTHER, HEAD), strict=True):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "cable", "up")
            ip("-n", name, "route", "add", "default", "via", other)  # by which Ray finds a host's own address
        made = Host(names[0], HEAD), Host(names[1], OTHER, tmp_path)
        try:
            yield made
        finally:
            for host in made:
                host.close()
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


class Said:
    """What a program says, as it says it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines, self._news = process, list[str](), threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def wait(self, words: str, times: int = 1) -> None:
        """Until it has said these words so many times."""
        with self._news:
            said: Callable[[], bool] = lambda: sum(words in line for line in self.lines) >= times  # noqa: E731
            self._news.wait_for(lambda: said() or self.process.poll() is not None, PATIENCE)
            assert said(), f"nothing of {words!r} in:\n" + "\n".join(self.lines)

    def end(self) -> int:
        """The exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code


def test_a_cut_cable_and_a_lost_head_cost_time_alone(hosts: tuple[Host, Host], whole: Path, tmp_path: Path) -> None:
    here, there = hosts
    folder, settings = tmp_path / "run", tmp_path / "settings.json"
    settings.write_text(json.dumps(SETTINGS.to_dict()))
    # the package comes before ray, as in the command
    code = "import training.cluster; from tests.training.cluster import test_two_hosts as t; t.as_command()"
    pause = threading.Event()

    def until(generation: int) -> None:
        for _ in range(int(PATIENCE / 0.05)):
            if games(folder, generation):
                return
            if driver.process.poll() is not None:
                break
            pause.wait(0.05)
        pytest.fail("\n".join(driver.lines))

    def drive() -> Said:
        return Said(here.start(sys.executable, "-c", code, str(settings), str(folder)))

    here.head()
    join = [sys.executable, "-m", "gozero", "worker", "--address", f"{HEAD}:{PORT}", "--workers", "1", "--memory", "80"]
    theirs = Said(there.start(*join))  # the only worker
    driver = drive()
    until(1)
    ip("-n", there.name, "link", "set", "cable", "down")
    driver.wait(f"{there.name}:")  # is gone; its task waits
    ip("-n", there.name, "link", "set", "cable", "up")
    ip("-n", there.name, "route", "add", "default", "via", HEAD)  # went with the cable
    theirs.wait("Ray runtime started", times=2)
    until(2)
    here.kill()
    assert driver.end() != 0
    here.ray("stop")  # it has noted the cluster that was
    here.head()
    driver = drive()
    theirs.wait("Ray runtime started", times=3)
    assert driver.end() == 0 and "the run has reached its limit" in driver.lines[-2], "\n".join(driver.lines)
    os.kill(inside_of(theirs.process), signal.SIGTERM)
    assert theirs.end() == 0
    check_same(whole, folder)


def as_command() -> None:
    """The command of the test above."""
    from tests.training.cluster.test_cluster import train
    from training.cluster import connection
    from training.settings import config

    settings, folder = map(Path, sys.argv[1:])
    connection.connect("auto")
    wanted = config.from_values(config.LoopSettings, json.loads(settings.read_text()), str(settings))
    sys.exit(train(folder, wanted))
