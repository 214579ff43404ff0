"""A log directory that is mounted: the kernel itself gives the answers, and nothing hangs after a crash."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.faults.capabilities import CHANGES, Broken, CapabilityError, DiskRule, Operation
from fencepost.harness.cluster.log_dirs import NodeLogDirs
from fencepost.harness.disks import mounts
from fencepost.harness.disks.node_disks import NodeDisks
from fencepost.harness.disks.servers import DiskServers
from fencepost.harness.network.addresses import Addresses
from fencepost.harness.network.layout import Layout, Node, Role, site_names
from fencepost.harness.plan.model import Timing
from fencepost.harness.processes.records import read_records
from fencepost.harness.processes.resources import read_resources
from fencepost.harness.targets.target import Installation
from fencepost.results.records.folder import RunFolder
from tests.waiting import eventually

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(mounts.unavailable_reason() is not None, reason=str(mounts.unavailable_reason())),
]

ADDRESSES = Addresses(20)
PLAIN = tuple(
    Node(f"node-{number}", number, number, frozenset({Role.BROKER}), ADDRESSES.node(number)) for number in (4, 5, 6)
)
NODES = (*(replace(node, disk="breakable") for node in PLAIN[:2]), PLAIN[2])
WRITER = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(fd, b"x" * 100, 0)
"""


class Bench:
    """Nodes without processes, on mounts."""

    def __init__(self, folder: Path) -> None:
        self.run = RunFolder.create_at(folder)
        layout = Layout(ADDRESSES, NODES, site_names([]))
        self.installation = Installation(layout, Timing(), "cluster", self.run.nodes)
        self.servers = DiskServers(self.run)
        self.disks = NodeDisks(layout, self.installation, self.servers)
        self.log_dirs = NodeLogDirs(layout, self.installation, self.disks)

    def prepared(self, number: int) -> Path:
        node = next(node for node in NODES if node.id == number)
        self.disks.prepare(node)
        self.disks.environment(node)
        return self.installation.data(node)

    def server(self, number: int) -> int:
        found = [each for each in read_records(self.run.processes) if each.node == f"disk-node-{number}"]
        assert found[-1].identity is not None
        return found[-1].identity.pid


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("disks") / "run")
    with made.servers:
        yield made


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Bench]:
    """For what breaks more than a rule."""
    made = Bench(tmp_path / "run")
    with made.servers:
        yield made


@pytest.fixture(scope="module")
def data(bench: Bench) -> Path:
    return bench.prepared(4)


@pytest.fixture
def writer(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing but write."""
    started = subprocess.Popen([sys.executable, "-c", WRITER, str(data / "busy")], stderr=subprocess.PIPE)
    eventually(lambda: (data / "busy").exists())
    yield started
    started.kill()
    started.communicate()


def rule(*operations: Operation, error: str | None = "EIO", **more: object) -> DiskRule:
    return DiskRule(frozenset(operations), error=error, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("broken", "tried"),
    [
        (rule(Operation.READ), [Operation.READ]),
        (rule(Operation.WRITE), [Operation.WRITE]),
        (rule(Operation.FSYNC), [Operation.FSYNC]),
        (rule(Operation.WRITE, files="t-0/*.log"), [Operation.WRITE]),
        (rule(Operation.GROW, Operation.CREATE, error="ENOSPC"), [Operation.GROW, Operation.CREATE]),
        (rule(Operation.RENAME), [Operation.RENAME]),
        (rule(Operation.RENAME, files="quorum-*"), [Operation.RENAME]),
        (rule(*CHANGES, error="EROFS"), [Operation.RENAME, Operation.NAME, Operation.CREATE, Operation.WRITE]),
    ],
    ids=lambda value: f"{value.error} {value.files or ''}" if isinstance(value, DiskRule) else value[0].value,
)
def test_a_rule_is_met_while_it_lasts(bench: Bench, data: Path, broken: DiskRule, tried: list[Operation]) -> None:
    def errors() -> list[str | None]:
        return [probed.error for each in tried for probed in bench.disks.probe("node-4", each, broken)]

    assert set(errors()) == {None}
    bench.disks.add("node-4", "broken", broken)
    assert set(errors()) == {broken.error}
    assert bench.disks.remove("node-4", "broken") == {}
    assert set(errors()) == {None}


def test_other_files_and_what_is_not_named_go_on(bench: Bench, data: Path) -> None:
    bench.disks.add("node-4", "broken", rule(Operation.WRITE, files="t-0/*.log"))
    (data / "checkpoint").write_text("goes on")
    assert (data / "checkpoint").read_text() == "goes on"
    bench.disks.remove("node-4", "broken")


def test_what_cannot_be_renamed_can_be_made_written_and_removed(bench: Bench, data: Path) -> None:
    (data / "vote").write_text("old")
    bench.disks.add("node-4", "stuck", rule(Operation.RENAME, files="vote"))
    (data / "vote.tmp").write_text("new")
    with pytest.raises(OSError, match="Input/output error"):
        (data / "vote.tmp").rename(data / "vote")
    assert ((data / "vote").read_text(), (data / "vote.tmp").read_text()) == ("old", "new")
    (data / "vote.tmp").rename(data / "aside")
    (data / "vote").unlink()
    with pytest.raises(OSError, match="Input/output error"):
        (data / "aside").rename(data / "vote")
    bench.disks.remove("node-4", "stuck")
    (data / "aside").rename(data / "vote")
    assert (data / "vote").read_text() == "new"


def test_the_first_bytes_of_a_torn_write_are_there(bench: Bench, data: Path) -> None:
    broken = rule(Operation.WRITE, torn_after=100)
    bench.disks.probe("node-4", Operation.WRITE, broken)
    bench.disks.add("node-4", "torn", broken)
    [probed] = bench.disks.probe("node-4", Operation.WRITE, broken)
    bench.disks.remove("node-4", "torn")
    assert (probed.error, probed.kept) == ("EIO", 100)


def test_a_full_disk_lets_bytes_be_overwritten_and_files_be_cut_and_removed(bench: Bench, data: Path) -> None:
    (data / "there").write_bytes(b"x" * 100)
    bench.disks.add("node-4", "full", rule(Operation.GROW, Operation.CREATE, error="ENOSPC"))
    with (data / "there").open("r+b", buffering=0) as there:
        there.write(b"y" * 100)
        with pytest.raises(OSError, match="No space left"):
            there.write(b"z")
        there.truncate(10)
    (data / "there").unlink()
    bench.disks.remove("node-4", "full")


def test_pages_can_be_shared_between_processes_as_a_jvm_does_with_its_indexes(data: Path) -> None:
    with (data / "index").open("w+b") as index:
        index.truncate(8192)
        with mmap.mmap(index.fileno(), 8192) as shared:
            shared[0:5] = b"entry"
            shared.flush()
        index.seek(0)
        assert index.read(5) == b"entry"


def test_operations_of_a_node_are_counted(bench: Bench, writer: subprocess.Popen[bytes]) -> None:
    bench.disks.add("node-4", "broken", rule(Operation.WRITE))
    _, said = writer.communicate(timeout=20)
    assert b"Input/output error" in said
    assert bench.disks.remove("node-4", "broken") == {"write": 1}


def test_a_slow_disk_is_slow_and_a_kill_does_not_wait_for_it(
    bench: Bench, data: Path, writer: subprocess.Popen[bytes]
) -> None:
    short = rule(Operation.FSYNC, error=None, delay_ms=50)
    bench.disks.probe("node-4", Operation.FSYNC, short)
    bench.disks.add("node-4", "short", short)
    [probed] = bench.disks.probe("node-4", Operation.FSYNC, short)
    assert probed.seconds >= 0.05
    bench.disks.remove("node-4", "short")
    bench.disks.add("node-4", "slow", rule(Operation.WRITE, error=None, delay_ms=60_000))
    eventually(lambda: _waits_for_the_disk(writer.pid))
    began = time.monotonic()
    writer.kill()
    writer.wait(20)
    assert time.monotonic() - began < 10
    assert bench.disks.remove("node-4", "slow")


def _waits_for_the_disk(pid: int) -> bool:
    """Longer than for any operation that is not slowed down."""
    seen = []
    for _ in range(10):
        seen.append(Path(f"/proc/{pid}/wchan").read_text())
        time.sleep(0.05)
    return set(seen) == {"request_wait_answer"}


def test_a_bit_that_turned_over_is_read_and_turned_back(bench: Bench, data: Path) -> None:
    batch = b"\0" * 8 + (100 - 12).to_bytes(4, "big") + b"\1" * 88
    (data / "t-0").mkdir()
    log = data / "t-0" / "00000000000000000000.log"
    log.write_bytes(batch * 3 + b"torn")
    flip = bench.disks.flip("node-4", "t-0/*.log", "last-batch", 39 + 5, 3)
    assert (flip.offset, flip.was, flip.now) == (200 + 61 + 5, 1, 9)
    assert bench.disks.read("node-4", flip.file, flip.offset) == 9
    assert log.read_bytes()[flip.offset] == 9
    assert bench.disks.flip_back("node-4", flip)
    assert log.read_bytes() == batch * 3 + b"torn"


def test_a_bit_is_not_turned_back_in_a_file_that_was_written_anew(bench: Bench, data: Path) -> None:
    (data / "anew").write_bytes(b"x" * 100)
    flip = bench.disks.flip("node-4", "anew", 50, 0, 0)
    (data / "anew").write_bytes(b"z" * 100)
    assert not bench.disks.flip_back("node-4", flip)
    assert (data / "anew").read_bytes() == b"z" * 100


def test_blocks_are_set_back_and_put_back_below_all_caches(bench: Bench, data: Path) -> None:
    bench.disks.remember("node-4")
    (data / "s-0").mkdir()
    log = data / "s-0" / "1.log"
    log.write_bytes(b"a" * 10_000)
    with log.open("r+b") as opened:
        opened.write(b"b" * 10_000)
        opened.flush()
        assert os.pread(opened.fileno(), 1, 5000) == b"b"
        modified = log.stat().st_mtime_ns
        [block] = bench.disks.set_back("node-4", "s-0/*.log", 0, first=4, count=1, behind_cuts=False)
        assert (block.file, block.offset, block.was, block.now) == ("s-0/1.log", 4096, b"b" * 4096, b"a" * 4096)
        assert os.pread(opened.fileno(), 4096, 4096) == bench.disks.on_disk("node-4", block) == block.now
        assert log.stat().st_mtime_ns == modified
    assert log.read_bytes() == b"b" * 4096 + b"a" * 4096 + b"b" * (10_000 - 8192)
    assert bench.disks.set_forward("node-4", block)
    assert log.read_bytes() == b"b" * 10_000
    assert not bench.disks.set_forward("node-4", block)


def test_a_file_that_replaced_another_holds_what_that_one_held(bench: Bench, data: Path) -> None:
    bench.disks.remember("node-4")
    for content in ("epoch 1", "epoch 2"):
        (data / "vote.tmp").write_text(content)
        (data / "vote.tmp").rename(data / "vote")
    [block] = bench.disks.set_back("node-4", "vote", 0, first=0, count=9, behind_cuts=False)
    assert (data / "vote").read_text() == "epoch 1"
    (data / "vote").unlink()
    assert bench.disks.on_disk("node-4", block) == b""
    assert not bench.disks.set_forward("node-4", block)
    with pytest.raises(CapabilityError, match="node-4 has no file that matches 'vote' and of which a change is known"):
        bench.disks.set_back("node-4", "vote", 0, first=0, count=1, behind_cuts=False)


def test_the_earlier_content_is_kept_anew_after_a_power_loss(alone: Bench) -> None:
    data = alone.prepared(5)
    alone.disks.remember("node-5")
    alone.disks.lose(["node-5"])
    alone.prepared(5)
    (data / "log").write_bytes(b"a")
    assert alone.disks.set_back("node-5", "log", 0, first=0, count=1, behind_cuts=False)
    assert (data / "log").read_bytes() == b"\0"


@pytest.mark.parametrize(("how", "error"), [(Broken.REPLACED, "ENOTDIR"), (Broken.REMOVED, "ENOENT")])
def test_a_mounted_directory_vanishes_by_name_and_not_for_open_files(
    bench: Bench, data: Path, how: Broken, error: str
) -> None:
    with (data / "open").open("w") as opened:
        bench.log_dirs.break_("node-4", 0, how)
        assert bench.log_dirs.state("node-4", 0).error == error
        with pytest.raises(OSError):
            (data / "new").touch()
        opened.write("kept")
    bench.log_dirs.restore("node-4", 0)
    assert bench.log_dirs.state("node-4", 0).error is None
    assert (data / "open").read_text() == "kept"


def test_a_node_with_a_plain_disk_is_left_alone(bench: Bench) -> None:
    with pytest.raises(CapabilityError, match="the disk of node-6 cannot be broken: give it `disk: breakable`"):
        bench.disks.check("node-6")


def test_power_is_lost_and_the_rules_last(bench: Bench) -> None:
    data = bench.prepared(5)
    with (data / "log").open("wb", buffering=0) as log:
        log.write(b"x" * 1000)
        os.fsync(log.fileno())
        log.write(b"y" * 1000)
        bench.disks.add("node-5", "broken", rule(Operation.FSYNC))
        with pytest.raises(OSError):
            os.fsync(log.fileno())
    (data / "young").mkdir()
    (data / "log").rename(data / "renamed")
    lost = bench.disks.lose(["node-5"])["node-5"]
    assert lost.files == {"renamed": (2000, 1000)}
    assert lost.names == ("log was not renamed to renamed", "young was not made")
    assert list(bench.disks.durable("node-5")) == [(1000, 1000)]
    assert mounts.at(data) is None
    assert [path.name for path in data.iterdir()] == ["log"]
    assert (data / "log").read_bytes() == b"x" * 1000
    bench.prepared(5)
    assert (data / "log").read_bytes() == b"x" * 1000
    [probed] = bench.disks.probe("node-5", Operation.FSYNC, rule(Operation.FSYNC))
    assert probed.error == "EIO"
    bench.disks.remove("node-5", "broken")


def test_when_the_file_system_dies_writers_get_an_error_and_the_files_are_seen_again(alone: Bench) -> None:
    bench, data = alone, alone.prepared(4)
    (data / "kept").write_text("before")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(data / "busy")], stderr=subprocess.PIPE)
    eventually((data / "busy").exists)
    bench.disks.add("node-4", "slow", rule(Operation.WRITE, error=None, delay_ms=60_000))
    eventually(lambda: Path(f"/proc/{writer.pid}/wchan").read_text() == "request_wait_answer")
    os.kill(bench.server(4), signal.SIGKILL)
    _, said = writer.communicate(timeout=20)
    assert b"Software caused connection abort" in said or b"not connected" in said
    eventually(bench.servers.broken)
    assert "the file system under a node's log directory ended: disk-node-4" in bench.servers.broken()[0]
    began = time.monotonic()
    bench.servers.close()
    assert time.monotonic() - began < 15
    assert (data / "kept").read_text() == "before"
    assert read_resources(bench.run.path) == []
    assert sorted(path.name for path in data.parent.iterdir()) == ["data"]


def test_a_file_system_that_does_not_answer_is_taken_down_in_bounded_time(alone: Bench) -> None:
    data = alone.prepared(4).resolve()
    os.kill(alone.server(4), signal.SIGSTOP)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(data / "busy")], stderr=subprocess.PIPE)
    mounts.take_down(data)
    assert mounts.at(data) is None
    writer.kill()
    writer.communicate(timeout=20)
