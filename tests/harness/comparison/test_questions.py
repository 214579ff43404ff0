"""The probes: enough of them, each request a client may send, and each as the protocol's schemas have it."""

from __future__ import annotations

import pytest

from fencepost.harness.comparison.answers import PREPARES
from fencepost.harness.comparison.catalogue import PROBES, shipped_probes
from fencepost.harness.comparison.questions import name_of, questions
from fencepost.harness.engine.run import check_plan
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.messages import APIS
from fencepost.harness.plan.rehearsal import problems_to_run
from fencepost.harness.plan.requests.api import ApiProbe

TARGETS = ("apache-kafka", "apache-kafka-zk", "quorum", "zk-controller", "leader-driven", "tansu")
BETWEEN_NODES = frozenset(
    {"allocate_producer_ids", "alter_partition", "assign_replicas_to_dirs", "begin_quorum_epoch", "broker_heartbeat"}
    | {"broker_registration", "controller_registration", "delete_share_group_state", "end_quorum_epoch", "envelope"}
    | {"fetch_snapshot", "initialize_share_group_state", "read_share_group_state", "read_share_group_state_summary"}
    | {"update_raft_voter", "vote", "write_share_group_state", "write_txn_markers"}
)


@pytest.mark.parametrize("target", TARGETS)
def test_every_probe_can_be_sent(target: str) -> None:
    assert not [problem.message for problem in problems_to_run(questions(target))]


def test_there_are_at_least_250_probes() -> None:
    asked = questions("quorum")
    names = [asked.step_name(place) for place in range(len(asked.steps))]
    assert sum(not name.startswith(PREPARES) for name in names) >= 250


def test_each_request_of_clients_has_a_file_of_its_name() -> None:
    assert {path.stem for path in PROBES.glob("*.yaml")} == set(APIS) - BETWEEN_NODES
    assert all(
        probes.api == path.stem for probes, path in zip(shipped_probes(), sorted(PROBES.glob("*.yaml")), strict=True)
    )


def test_no_two_files_share_a_topic() -> None:
    named = [topic for probes in shipped_probes() for topic in probes.topics]
    assert len(named) == len(set(named))


def test_the_broker_is_named_by_its_id() -> None:
    bodies = {step.as_: step.body for step in questions("tansu").steps if isinstance(step, ApiProbe)}
    reassigned = bodies["alter-partition-reassignments.to-itself"]["topics"][0]
    assert reassigned["partitions"][0]["replicas"] == [111]
    assert bodies["describe-configs.broker"]["resources"][0]["resource_name"] == "111"


def test_a_choice_keeps_the_probes_that_come_before_in_its_file() -> None:
    asked = questions("quorum", ["end-txn.commit-again"])
    names = [asked.step_name(place) for place in range(len(asked.steps))]
    assert [name for name in names if not name.startswith(PREPARES)][-1] == "end-txn.commit-again"
    assert "end-txn.commit" in names and "end-txn.abort" not in names


def test_a_choice_of_nothing_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="no probe has a name like nix"):
        questions("quorum", ["nix"])


def test_names_are_those_of_plans() -> None:
    [probes] = [each for each in shipped_probes() if each.api == "create_topics"]
    assert name_of(probes, probes.probes[0]) == "create-topics.one-partition"


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_is_refused_for_a_request_that_it_lacks(target: str) -> None:
    check_plan(questions(target))
