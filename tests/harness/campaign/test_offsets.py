"""Operations on offsets claim what documents promise, and do again what they did before a restart."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.offsets import MOST_METADATA, NEGATIVE, OffsetsAfterRestart, OffsetsAtLimits
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start
from tests.harness.campaign.test_questions import asked, script


@pytest.mark.requirement("CRD-02")
@pytest.mark.requirement("CRD-03")
def test_only_metadata_beyond_the_limit_is_claimed_to_be_refused() -> None:
    outcomes = set()
    for seed in range(30):
        for step in asked(script(seed), OffsetsAtLimits()):
            if step.api != "offset_commit":
                continue
            [topic] = step.body["topics"]
            partition = topic["partitions"][0]
            length, negative = len(partition["committed_metadata"]), partition["committed_offset"] in NEGATIVE
            outcome = step.expect.outcome if step.expect else None
            assert outcome == (None if negative else "error:12" if length > MOST_METADATA else "served")
            outcomes.add((outcome, length))
    assert {("served", MOST_METADATA), ("error:12", MOST_METADATA + 1), (None, 0)} <= outcomes


def test_a_deleted_group_and_a_deleted_offset_are_used_again() -> None:
    apis = [[step.api for step in asked(script(seed), OffsetsAtLimits())] for seed in range(30)]
    for deletion in ("delete_groups", "offset_delete"):
        assert any("offset_commit" in each[each.index(deletion) :] for each in apis if deletion in each)


def test_the_offset_of_one_partition_is_deleted_beside_those_of_others() -> None:
    left = 0
    for seed in range(30):
        committed: set[int] = set()
        for step in asked(script(seed), OffsetsAtLimits()):
            if step.api == "offset_commit" and step.expect is not None and step.expect.outcome == "served":
                committed |= {each["partition_index"] for each in step.body["topics"][0]["partitions"]}
            if step.api == "offset_delete":
                [partition] = step.body["topics"][0]["partitions"]
                assert partition["partition_index"] in committed
                left += len(committed) > 1
    assert left >= 5


def test_requests_are_sent_again_after_a_restart_of_the_coordinator() -> None:
    made = script()
    OffsetsAfterRestart().add(made)
    kinds = [type(step) for step in made.steps]
    down, up = kinds.index(Shutdown), kinds.index(Start)
    assert down < up
    before, after = ([s.api for s in part if isinstance(s, ApiProbe)] for part in (made.steps[:down], made.steps[up:]))
    assert before == ["find_coordinator", *after]
    assert not made.whole
