"""A claim on an answer names the rule that a wrong answer breaks.

Rules of documents say themselves which requests they are about. The guarantees are about kinds of requests: a broker
that accepts a bad name has broken a promise to administrators, and no controller has ended.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.harness.campaign.planner import generate
from fencepost.harness.catalogue import catalogue
from fencepost.harness.plan.base import ExpectOutcome, Level
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.suites.released_bugs.bug import ReleasedBug
from fencepost.suites.released_bugs.bugs import BUGS
from fencepost.suites.scenario import Scenario
from fencepost.suites.target_facts import TargetFacts
from tests.harness.sample_target import VISIBLE
from tests.suites.test_scenarios import every_plan

CHANGES = frozenset(
    {
        "create-topic",
        "delete-topic",
        "create-partitions",
        "reassign",
        "update-features",
        "alter_client_quotas",
        "alter_configs",
        "alter_partition_reassignments",
        "alter_replica_log_dirs",
        "alter_user_scram_credentials",
        "add_raft_voter",
        "create_acls",
        "create_delegation_token",
        "create_partitions",
        "create_topics",
        "delete_acls",
        "delete_records",
        "delete_topics",
        "elect_leaders",
        "expire_delegation_token",
        "incremental_alter_configs",
        "remove_raft_voter",
        "renew_delegation_token",
        "unregister_broker",
        "update_features",
    }
)
DESCRIPTIONS = frozenset(
    {
        "metadata",
        "list-reassignments",
        "metrics",
        "describe-quorum",
        "api_versions",
        "describe_acls",
        "describe_client_quotas",
        "describe_cluster",
        "describe_configs",
        "describe_delegation_token",
        "describe_log_dirs",
        "describe_producers",
        "describe_quorum",
        "describe_topic_partitions",
        "describe_transactions",
        "describe_user_scram_credentials",
        "list_client_metrics_resources",
        "list_config_resources",
        "list_partition_reassignments",
        "list_transactions",
    }
)
RECORDS = frozenset({"produce", "fetch", "list-offsets", "list_offsets", "offset_for_leader_epoch"})
COORDINATORS = frozenset(
    {
        "add_offsets_to_txn",
        "add_partitions_to_txn",
        "alter_share_group_offsets",
        "consumer_group_describe",
        "consumer_group_heartbeat",
        "delete_groups",
        "delete_share_group_offsets",
        "describe_groups",
        "describe_share_group_offsets",
        "end_txn",
        "find_coordinator",
        "heartbeat",
        "init_producer_id",
        "initialize_share_group_state",
        "join_group",
        "leave_group",
        "list_groups",
        "offset_commit",
        "offset_delete",
        "offset_fetch",
        "read_share_group_state",
        "share_group_heartbeat",
        "sync_group",
        "txn_offset_commit",
        "write_share_group_state",
    }
)
BETWEEN_NODES = frozenset(
    {
        "alter-isr",
        "controlled-shutdown",
        "controller-heartbeat",
        "broker-heartbeat",
        "isr-change",
        "leader-and-isr",
        "metadata-heartbeat",
        "metadata-log",
        "replica-fetch",
        "replica-state-event",
        "stop-replica",
        "update-metadata",
        "vote",
    }
)
EVERYTHING_OF_CLIENTS = CHANGES | DESCRIPTIONS | RECORDS | COORDINATORS

SHOWN_BY = {
    "ADM-01": CHANGES | DESCRIPTIONS,
    "ADM-02": CHANGES | DESCRIPTIONS | {"fetch"},
    "ADM-03": DESCRIPTIONS | {"list_offsets"},
    "ADM-04": CHANGES | DESCRIPTIONS | RECORDS,
    "ADM-05": CHANGES | DESCRIPTIONS | RECORDS,
    "ADM-06": EVERYTHING_OF_CLIENTS,
    "CRD-06": RECORDS,
    "CRD": COORDINATORS | {"produce"},
    "CTRL": BETWEEN_NODES | {"describe_quorum", "describe-quorum"},
    "DISK": RECORDS | {"describe_log_dirs"},
    "GRP": COORDINATORS,
    "HW": RECORDS | {"replica-fetch"},
    "SEC-01": {"fetch"},
    "SEC-02": RECORDS,
    "SEC-03": CHANGES,
    "SEC-04": COORDINATORS,
    "SEC-05": {"fetch"},
    "SEC-06": RECORDS | {"create_acls"},
    "SEC-07": EVERYTHING_OF_CLIENTS,
    "SEC-08": {"metadata"},
    "SEC-09": {"metadata"},
    "SEC-10": EVERYTHING_OF_CLIENTS,
    "ISR": RECORDS,
    "LEAD": RECORDS,
    "LIVE": EVERYTHING_OF_CLIENTS,
    "META": DESCRIPTIONS,
    "TOPIC": DESCRIPTIONS,
    "TXN": COORDINATORS | {"describe_transactions"},
    "UPG": CHANGES | DESCRIPTIONS,
}
"""The requests whose answers can break a guarantee, by its id or its prefix."""
OF_PERMISSIONS = ("ADM-06", "SEC-03")
"""The guarantees about requests that their sender may not make."""
OF_MISTAKES = ("ADM-01", "ADM-02", "UPG-04")
"""The guarantees about the errors that administrators get."""
EFFECT_OF_SETTINGS = "ADM-04"
"""The guarantee that a refusal keeps if a setting asks for the refusal."""
PROMISES_TO_SERVE = ("LIVE", "ADM-03", "ADM-05", "META")
"""The guarantees that no refusal keeps."""


def request_of(step: ProbeStep) -> str:
    if isinstance(step, ApiProbe):
        return step.api
    request: str = getattr(step, "request")  # noqa: B009  # each kind of probe has one
    return "broker-heartbeat" if request == "heartbeat" else request


def is_guarantee(requirement: str) -> bool:
    return catalogue().rows[requirement].kind == "guarantee"


def shown_by(requirement: str) -> frozenset[str]:
    prefix = requirement.rpartition("-")[0]
    return frozenset(SHOWN_BY.get(requirement, SHOWN_BY.get(prefix, frozenset())))


def misfits(plan: Plan) -> Iterator[str]:
    """Yield each claim on an answer whose rule is about something else."""
    for place, step in enumerate(plan.steps):
        expect = getattr(step, "expect", None)
        if not isinstance(step, ProbeStep) or not isinstance(expect, ExpectOutcome) or expect.level is Level.MAY:
            continue
        request, refused = request_of(step), expect.outcome.startswith(("error:", "refused"))
        claim = f"{plan.step_name(place)}: {request} {expect.level.value} {expect.outcome} ({expect.requirement})"
        if not is_guarantee(expect.requirement):
            continue
        if request not in shown_by(expect.requirement):
            yield f"{claim}: no answer to this request breaks that rule"
        if expect.level is not Level.MUST:
            continue
        if (
            refused
            and request in CHANGES
            and expect.requirement not in (*OF_MISTAKES, EFFECT_OF_SETTINGS, *OF_PERMISSIONS)
        ):
            yield f"{claim}: a mistake that is not refused breaks ADM-02"
        if refused and expect.requirement.startswith(PROMISES_TO_SERVE):
            yield f"{claim}: a refusal does not keep that rule"


@every_plan
def test_a_claim_on_an_answer_names_the_rule_that_a_wrong_answer_breaks(scenario: Scenario, target: str) -> None:
    assert list(misfits(scenario.plan(TargetFacts.of(target), seed=1))) == []


@pytest.mark.parametrize("target", VISIBLE)
def test_claims_of_random_plans_do_so_as_well(target: str) -> None:
    for seed in range(1, 31):
        assert list(misfits(generate(target, "process", seed))) == []


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.number)
def test_claims_of_the_gallery_do_so_as_well(bug: ReleasedBug) -> None:
    assert list(misfits(bug.plan(bug.affected))) == []
