"""Faults of disks say what they broke, and whether anybody met it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.faults.capabilities import CHANGES, CapabilityError, DiskRule, Operation, StaleBlock
from fencepost.faults.disks.disk_error import DiskErrorParameters
from fencepost.faults.disks.rule_fault import RuleFault
from fencepost.faults.disks.torn_write import TornWriteParameters
from fencepost.faults.registry import FAULTS, build, names_in_family
from fencepost.harness.disks import mounts
from fencepost.harness.plan.injects import inject
from tests.faults.fake import FakeCluster, cluster_of
from tests.faults.fake_disks import FakeDisks


@pytest.fixture
def cluster() -> FakeCluster:
    return cluster_of("node-4", "node-5")


def rule_of(name: str, **params: Any) -> DiskRule:
    fault = build(name, cluster_of("node-4"), {"node": "node-4", **params})
    assert isinstance(fault, RuleFault)
    return fault.rule


def test_the_number_of_operations_that_met_the_rule_is_in_the_evidence_of_healing(cluster: FakeCluster) -> None:
    cluster.broken_disks.hits = {"write": 3, "fsync": 1}
    fault = build("disk-error", cluster, {"node": "node-4", "operations": ["write", "fsync"]})
    fault.set_up()
    fault.inject()
    fault.recover()
    fault.recover()
    healed = fault.verify_healed()
    assert healed.measured["hits"] == {"write": 3, "fsync": 1}
    assert healed.measured["met"] is True
    assert "met by node-4 meanwhile: 1 x fsync and 3 x write" in healed.how


def test_a_rule_that_no_operation_met_is_healed_and_said_to_have_broken_nothing(cluster: FakeCluster) -> None:
    fault = build("disk-full", cluster, {"node": "node-4"})
    fault.set_up()
    fault.inject()
    fault.recover()
    healed = fault.verify_healed()
    assert healed.proven
    assert healed.measured["met"] is False
    assert "met by node-4 meanwhile: never" in healed.how


def test_a_disk_that_is_broken_already_is_not_broken_again(cluster: FakeCluster) -> None:
    build("disk-error", cluster, {"node": "node-4"}).inject()
    with pytest.raises(CapabilityError, match="the disk of node-4 is broken already: write EIO"):
        build("torn-write", cluster, {"node": "node-4", "bytes": 7}).set_up()
    build("torn-write", cluster, {"node": "node-5", "bytes": 7}).set_up()


def test_a_torn_write_is_proven_by_the_bytes_that_are_there(cluster: FakeCluster) -> None:
    fault = build("torn-write", cluster, {"node": "node-4", "bytes": 7})
    fault.set_up()
    fault.inject()
    assert fault.verify().measured["probes"] == [{"operation": "write", "error": "EIO", "ms": 0.0, "kept": 7}]
    cluster.broken_disks.rules = {("node-4", "other"): DiskRule(frozenset({Operation.WRITE}), error="EIO")}
    assert not fault.verify().proven


def test_renames_that_fail_with_everything_else_prove_no_rename_error(cluster: FakeCluster) -> None:
    fault = build("rename-error", cluster, {"node": "node-4"})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    also = DiskRule(frozenset({Operation.RENAME, Operation.NAME}), error="EIO")
    cluster.broken_disks.rules = {("node-4", "other"): also}
    assert not fault.verify().proven


def test_a_machine_that_is_late_now_and_then_is_not_taken_for_a_slow_disk(cluster: FakeCluster) -> None:
    fault = build("disk-slow", cluster, {"node": "node-4", "ms": 5, "operations": ["fsync"]})
    fault.set_up()
    cluster.broken_disks.busy = 3
    assert not fault.verify().proven, "there is no rule yet"
    fault.inject()
    assert fault.verify().proven
    cluster.broken_disks.busy = 3
    assert not fault.verify_healed().proven, "the rule is still there"
    fault.recover()
    cluster.broken_disks.busy = 3
    assert fault.verify_healed().proven


def test_one_late_operation_is_not_taken_for_a_slow_disk_however_late(cluster: FakeCluster) -> None:
    fault = build("disk-slow", cluster, {"node": "node-4", "ms": 150, "operations": ["fsync"]})
    fault.set_up()
    cluster.broken_disks.busy = 1
    assert not fault.verify().proven, "there is no rule yet"


def test_a_disk_that_is_as_slow_already_is_refused(cluster: FakeCluster) -> None:
    cluster.broken_disks.busy = 1000
    with pytest.raises(CapabilityError, match="ms for a fsync as it is"):
        build("disk-slow", cluster, {"node": "node-4", "ms": 5, "operations": ["fsync"]}).set_up()


def test_what_each_fault_refuses() -> None:
    assert rule_of("disk-full").operations == {Operation.GROW, Operation.CREATE}
    assert rule_of("disk-read-only").operations == CHANGES | {Operation.OPEN}
    assert rule_of("disk-slow", ms=5, operations=["read"]).operations == {Operation.READ}
    assert rule_of("disk-error", files="t-0/*.log").files == "t-0/*.log"


def test_power_is_lost_by_all_nodes_before_anything_is_undone(cluster: FakeCluster) -> None:
    fault = build("power-loss", cluster, {"nodes": ["node-4", "node-5"]})
    fault.set_up()
    fault.inject()
    assert sorted(cluster.calls) == ["kill node-4", "kill node-5"]
    lost = fault.verify().measured["lost"]
    assert isinstance(lost, dict)
    assert lost["node-5"] == {
        "bytes": 1000,
        "files": {"t-0/00.log": {"was": 2000, "is": 1000}},
        "names": ["a was not made"],
    }


def test_a_bit_in_a_file_that_was_written_anew_has_healed_by_itself(cluster: FakeCluster) -> None:
    fault = build("bit-flip", cluster, {"node": "node-4", "file": "t-0/*.log", "bit": 3})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    cluster.broken_disks.same = False
    fault.recover()
    healed = fault.verify_healed()
    assert healed.proven
    assert healed.how == "t-0/*.log was cut or written anew at byte 61"


def test_blocks_of_a_process_that_goes_on_are_put_back_where_they_were_not_written_anew(cluster: FakeCluster) -> None:
    fault = build("stale-blocks", cluster, {"node": "node-4", "file": "t-0/*.log", "how": "running"})
    fault.set_up()
    fault.inject()
    assert fault.verify().proven
    assert cluster.calls == []
    fault.recover()
    healed = fault.verify_healed()
    assert (healed.proven, healed.measured["written_anew"]) == (True, [])
    cluster.broken_disks.same = False
    anew = build("stale-blocks", cluster, {"node": "node-4", "file": "t-0/*.log", "how": "running", "first": 2})
    anew.inject()
    anew.recover()
    assert anew.verify_healed().measured["written_anew"] == ["t-0/*.log at byte 8192"]


def test_blocks_of_a_process_that_goes_on_are_healed_only_if_they_are_what_they_were(cluster: FakeCluster) -> None:
    fault = build("stale-blocks", cluster, {"node": "node-4", "file": "t-0/*.log", "how": "running"})
    fault.inject()
    cluster.deaf = True
    fault.recover()
    assert not fault.verify_healed().proven


def test_blocks_that_are_as_they_were_just_before_prove_nothing(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = StaleBlock("t-0/1.log", 0, b"old", b"old")
    monkeypatch.setattr(FakeDisks, "set_back", lambda *_, **__: [same])
    fault = build("stale-blocks", cluster, {"node": "node-4", "file": "t-0/*.log"})
    fault.inject()
    assert not fault.verify().proven


def test_each_fault_says_what_it_models_and_what_not() -> None:
    for name in names_in_family("disks"):
        text = FAULTS[name].__doc__ or ""
        assert "Models " in text, name
        assert "not model" in text or "Not modelled" in text, name


def test_steps_are_refused_that_break_nothing() -> None:
    with pytest.raises(ValueError, match="operations"):
        inject("broken", DiskErrorParameters(node="node-4", operations=()))
    with pytest.raises(ValueError, match="bytes"):
        inject("torn", TornWriteParameters(node="node-4", bytes=-1))


def test_without_the_kernels_device_disks_are_not_broken_and_it_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mounts, "DEVICE", tmp_path / "fuse")
    assert "load the kernel's module `fuse`" in str(mounts.unavailable_reason.__wrapped__())
    (tmp_path / "fuse").touch()
    monkeypatch.setattr(mounts, "FUSERMOUNT", "no-such-program")
    assert "apt-get install fuse3" in str(mounts.unavailable_reason.__wrapped__())
