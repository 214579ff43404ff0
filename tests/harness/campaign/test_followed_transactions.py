"""Transactions are written to, looked at while they are open, and ended or left to the next producer."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.followed_transactions import FollowedTransactions
from fencepost.harness.plan.steps.describe import Describe
from fencepost.harness.plan.steps.shutdown import Shutdown
from tests.harness.campaign.test_questions import asked, script


@pytest.mark.requirement("MDL-10", "MDL-19", "MDL-20")
def test_each_session_adds_what_it_writes_to_and_counts_its_batches() -> None:
    kinds = set()
    for seed in range(40):
        made = script(seed)
        steps = asked(made, FollowedTransactions())
        sessions = [step for step in steps if step.api == "init_producer_id"]
        assert len(sessions) == 2 and steps[-1] is sessions[-1]
        added = set[tuple[str, int]]()
        sequences = dict[tuple[str, int], int]()
        for step in steps:
            match step.api:
                case "add_partitions_to_txn":
                    [topic] = step.body["v3_and_below_topics"]
                    added |= {(topic["name"], each) for each in topic["partitions"]}
                case "produce":
                    [topic] = step.body["topic_data"]
                    [data] = topic["partition_data"]
                    place = topic["name"], data["index"]
                    assert place in added and step.node == f"leader:{topic['name']}-{data['index']}"
                    assert data["records"]["base_sequence"] == sequences.get(place, 0)
                    sequences[place] = data["records"]["base_sequence"] + 1
                case "end_txn":
                    added = set()
        looks = sum(isinstance(step, Describe) for step in made.steps)
        restarts = any(isinstance(step, Shutdown) for step in made.steps)
        offsets = any(step.api == "txn_offset_commit" for step in steps)
        kinds.add((looks > 0, restarts, offsets, bool(added), made.whole))
    assert {each[0] for each in kinds} >= {True}
    assert {(restarts, whole) for _, restarts, _, _, whole in kinds} == {(True, False), (False, True)}
    assert {each[2] for each in kinds} == {each[3] for each in kinds} == {True, False}
