"""The curves in TensorBoard, where they cannot be written."""

import errno
import os
import threading
from pathlib import Path

import pytest
import torch

from training.doctor.curves import Curves


def test_a_full_disk_is_told_once_and_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = threading.excepthook
    heard: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", heard.append)
    curves = Curves(tmp_path, every=1)
    curves.step(1, {"policy": torch.tensor(1.0)})
    thread = curves._writers["steps"].file_writer.event_writer._async_writer._worker

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(thread._record_writer, "write", full)
    with pytest.raises(OSError, match="No space"):
        curves.step(2, {"policy": torch.tensor(1.0)})  # raises if the thread was still writing the first step
        thread.join(20)
        curves.step(3, {"policy": torch.tensor(1.0)})
    assert not heard
    assert capsys.readouterr().err == ""
    other = threading.Thread(target=full)
    other.start()
    other.join()
    assert len(heard) == 1, "other threads' faults are told"
    with pytest.raises(OSError, match="No space"):
        curves.close()
    assert threading.excepthook == heard.append != usual
