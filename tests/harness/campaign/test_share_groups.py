"""Operations on share groups claim what a group with members refuses, and do again what they did before a restart."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.share_groups import NON_EMPTY, ShareGroupAfterRestart, ShareGroupOffsets
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start
from fencepost.harness.targets.registry import load_file
from tests.harness.campaign.test_questions import asked, paused, script

JOINS, LEAVES = 0, -1


@pytest.mark.requirement("CRD-01")
def test_offsets_are_claimed_to_be_refused_only_while_a_member_is_there() -> None:
    for seed in range(20):
        members = 0
        for step in asked(script(seed), ShareGroupOffsets()):
            if step.api == "share_group_heartbeat":
                members = int(step.body["member_epoch"] == JOINS)
            if step.api == "alter_share_group_offsets":
                outcome = step.expect.outcome if step.expect else None
                assert outcome == (f"error:{NON_EMPTY}" if members else None)
        assert not members


def test_offsets_are_set_again_after_each_kind_of_deletion_and_groups_are_configured() -> None:
    plans = [[step.api for step in asked(script(seed), ShareGroupOffsets())] for seed in range(40)]
    for deletion in ("delete_groups", "delete_share_group_offsets"):
        assert any("alter_share_group_offsets" in each[each.index(deletion) :] for each in plans if deletion in each)
    assert any("incremental_alter_configs" in each for each in plans)


def test_requests_are_sent_again_after_a_restart_of_the_coordinator() -> None:
    made = script()
    ShareGroupAfterRestart().add(made)
    kinds = [type(step) for step in made.steps]
    down, up = kinds.index(Shutdown), kinds.index(Start)
    before, after = ([s.api for s in part if isinstance(s, ApiProbe)] for part in (made.steps[:down], made.steps[up:]))
    assert before == ["find_coordinator", *after]
    assert not made.whole


@pytest.mark.parametrize("operation", [ShareGroupOffsets, ShareGroupAfterRestart])
def test_only_whole_clusters_with_share_groups_are_asked(operation: type[Operation]) -> None:
    made = script()
    paused(made)
    assert all(operation().add(made) is None for _ in range(5))
    for target, has_them in (
        ("apache-kafka:4.4.0", True),
        ("apache-kafka:4.2.0", True),
        ("apache-kafka:4.1.0", False),
        ("apache-kafka:3.9.2..4.4.0", False),
        ("quorum", False),
    ):
        file = load_file(target)
        version = target.partition(":")[2] or file.version
        assert (operation().left_out_reason(file, version, frozenset()) is None) is has_them
