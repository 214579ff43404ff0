"""The control groups of the kernel, of both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.capabilities import Limits
from fencepost.harness.backends.docker import cgroups


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(cgroups, "PROC", tmp_path / "proc")
    return tmp_path


@pytest.fixture
def version_1(groups: Path) -> Path:
    lines = ["6:freezer:/docker/4be1", "4:memory:/docker/4be1", "1:cpu,cpuacct:/docker/4be1", "0::/"]
    _write(groups / "proc" / "4711", cgroup="\n".join(lines))
    _write(groups / "cgroup" / "freezer" / "docker" / "4be1", freezer__state="THAWED")
    memory = {"memory__limit_in_bytes": "9223372036854771712", "memory__usage_in_bytes": "1048576"}
    _write(groups / "cgroup" / "memory" / "docker" / "4be1", **memory)
    cpu = {"cpu__cfs_quota_us": "-1", "cpu__cfs_period_us": "100000", "cpu__stat": "nr_periods 7\nnr_throttled 3"}
    _write(groups / "cgroup" / "cpu" / "docker" / "4be1", **cpu)
    return groups / "cgroup"


@pytest.fixture
def version_2(groups: Path) -> Path:
    _write(groups / "proc" / "4711", cgroup="0::/system.slice/docker-4be1.scope")
    folder = groups / "cgroup" / "system.slice" / "docker-4be1.scope"
    _write(folder, cgroup__events="populated 1\nfrozen 0", memory__max="max", memory__current="1048576")
    _write(folder, cpu__max="max 100000", cpu__stat="usage_usec 7\nnr_throttled 3")
    return folder


def test_a_group_without_limits_has_none_in_version_1(version_1: Path) -> None:
    assert cgroups.limits(4711) == Limits(None, 1 << 20, None, 3)
    assert cgroups.is_frozen(4711) is False


def test_limits_and_the_freezer_show_in_version_1(version_1: Path) -> None:
    _write(version_1 / "memory" / "docker" / "4be1", memory__limit_in_bytes=str(128 << 20))
    _write(version_1 / "cpu" / "docker" / "4be1", cpu__cfs_quota_us="10000")
    _write(version_1 / "freezer" / "docker" / "4be1", freezer__state="FROZEN")
    assert cgroups.limits(4711) == Limits(128 << 20, 1 << 20, 0.1, 3)
    assert cgroups.is_frozen(4711) is True


def test_a_group_without_limits_has_none_in_version_2(version_2: Path) -> None:
    assert cgroups.limits(4711) == Limits(None, 1 << 20, None, 3)
    assert cgroups.is_frozen(4711) is False


def test_limits_and_the_freezer_show_in_version_2(version_2: Path) -> None:
    _write(version_2, memory__max=str(128 << 20), cpu__max="10000 100000", cgroup__events="populated 1\nfrozen 1")
    assert cgroups.limits(4711) == Limits(128 << 20, 1 << 20, 0.1, 3)
    assert cgroups.is_frozen(4711) is True


def test_of_a_process_that_is_gone_nothing_is_known(groups: Path) -> None:
    assert cgroups.is_frozen(4711) is None
    assert cgroups.limits(4711) == Limits(None, None, None, None)
