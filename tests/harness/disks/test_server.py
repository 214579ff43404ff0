"""The process behind a mount is heard as soon as its mount can be seen."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

try:
    import mfusepy
except OSError as error:
    pytest.skip(f"mfusepy: {error}", allow_module_level=True)

from fencepost.harness.disks import server


def test_the_socket_listens_before_anything_is_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = tmp_path / "control.sock"
    heard: list[int] = []

    def mounted(*_: Any, **__: Any) -> None:
        with socket.socket(socket.AF_UNIX) as asking:
            heard.append(asking.connect_ex(str(control)))

    monkeypatch.setattr(mfusepy, "FUSE", mounted)
    monkeypatch.setattr(threading.Thread, "start", lambda _: None)  # no thread has come to run yet
    (tmp_path / "log").mkdir()
    paths = {"--mount": "log", "--probes": "probes", "--aside": "aside", "--control": "control.sock"}
    argv = [word for option, name in paths.items() for word in (option, str(tmp_path / name))]
    server.main([*argv, "--fsname", "fencepost-test", "--harness", "1"])

    assert heard == [0]
