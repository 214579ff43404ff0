"""Operations on permissions, credentials, quotas and features: legal where they are claimed, and beside all clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.faults.processes.pause import Pause
from fencepost.harness.campaign.features import FaultMove
from fencepost.harness.campaign.operations.acls import (
    CHANGES,
    TO_READ,
    ChangeAcls,
    MistakenAcls,
    RefusedRequests,
    refusals_of,
)
from fencepost.harness.campaign.operations.credentials import ChangeCredentials, MistakenCredentials
from fencepost.harness.campaign.operations.features import LOWER, MistakenFeatures, SameFeatureLevel
from fencepost.harness.campaign.operations.operation import Operation
from fencepost.harness.campaign.operations.quotas import UNLIMITED, ChangeQuotas, MistakenQuotas
from fencepost.harness.plan.paths import bound_names
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.targets.registry import load_file
from tests.harness.campaign.test_operations import script

ALL = (
    *(ChangeAcls, MistakenAcls, RefusedRequests, SameFeatureLevel, MistakenFeatures),
    *(ChangeCredentials, MistakenCredentials, ChangeQuotas, MistakenQuotas),
)
TOPIC, DENY = 2, 2
DESCRIBE = 8


def sent(operation: type[Operation], seeds: int = 30, target: str = "apache-kafka") -> Iterator[list[ApiProbe]]:
    """Yield the requests of one operation of each seed, on a whole cluster."""
    for seed in range(seeds):
        made = script(target, seed)
        before = len(made.steps)
        operation().add(made)
        yield [step for step in made.steps[before:] if isinstance(step, ApiProbe)]


@pytest.mark.parametrize("operation", ALL)
def test_requests_fit_the_messages_and_are_claimed_on_a_whole_cluster(operation: type[Operation]) -> None:
    claimed = 0
    for steps in sent(operation):
        for step in steps:
            assert list(step._request_problems()) == []
            claimed += step.expect is not None
    assert claimed >= 30


@pytest.mark.parametrize("operation", [RefusedRequests, SameFeatureLevel])
def test_what_rests_on_requests_before_it_is_not_asked_of_a_broken_cluster(operation: type[Operation]) -> None:
    made = script("apache-kafka")
    FaultMove(Pause).add(made)
    assert operation().add(made) is None


def test_entries_concern_nothing_that_clients_use() -> None:
    for steps in sent(ChangeAcls):
        entries = [entry for step in steps if step.api == "create_acls" for entry in step.body["creations"]]
        for entry in entries:
            everywhere = entry["resource_name"] == "*" and entry["permission_type"] != DENY
            assert everywhere or entry["resource_name"].startswith("acl")
        assert not any(entry["principal"] == "User:ANONYMOUS" for entry in entries)


def test_no_filter_of_other_operations_finds_a_denial() -> None:
    for steps in sent(ChangeAcls):
        for each in (each for step in steps if step.api == "delete_acls" for each in step.body["filters"]):
            assert each["principal_filter"] is not None or each["resource_name_filter"] is not None


@pytest.mark.requirement("ADM-06")
def test_each_request_is_denied_by_each_right_and_asked_for_only_once_the_entries_are_there() -> None:
    kinds = set()
    for steps in sent(RefusedRequests, 60, target="quorum"):
        place = next(place for place, step in enumerate(steps) if step.api == "describe_acls")
        [bound] = steps[place].binds
        [id] = next(step.binds for step in steps if step.api == "metadata")
        for step in steps[place + 1 :]:
            assert step.expect is not None
            if step.expect.outcome != "served":
                [named] = set(bound_names(step.body))
                assert named in (bound, id)
                kinds.add((step.api, step.expect.outcome, named == id))
    assert kinds == {(api, error, "id" in bound) for api, error, bound in wanted()}


def wanted() -> Iterator[tuple[str, str, set[str]]]:
    """Yield each request that is refused for want of a right, its outcome, and the bound values that it names."""
    for refusal in refusals_of("$x", "$id"):
        yield refusal.api, f"error:{refusal.error}", set(bound_names(refusal.body))


@pytest.mark.requirement("ADM-06")
def test_each_right_is_denied_alone_and_the_right_to_read_is_given_back() -> None:
    alone = set()
    for steps in sent(RefusedRequests, 200, target="quorum"):
        entries = next(step.body["creations"] for step in steps if step.api == "create_acls")
        denied = {(each["resource_type"], each["operation"]) for each in entries if each["permission_type"] == DENY}
        if len(denied) == 1:
            alone |= denied
        if (TO_READ.type, TO_READ.operation) in denied:
            assert any(step.api == "delete_acls" for step in steps)
            assert len(denied) == 1
        assert (TOPIC, DESCRIBE) not in denied
    assert alone == {(each.type, each.operation) for each in (*CHANGES, TO_READ)}


@pytest.mark.requirement("D631-42")
def test_the_next_lower_level_is_a_mistake_of_each_type_of_change_where_no_level_is_lowered() -> None:
    for target, lowered in (("quorum", {1, 2, 3}), ("apache-kafka", set[int]())):
        updates = [step.body["feature_updates"][0] for steps in sent(MistakenFeatures, target=target) for step in steps]
        assert {each["upgrade_type"] for each in updates if each["max_version_level"] == LOWER} - {1} == lowered - {1}


@pytest.mark.requirement("ADM-06")
def test_some_denials_are_lifted_and_others_stay() -> None:
    lifted = {any(step.api == "delete_acls" for step in steps) for steps in sent(RefusedRequests)}
    assert lifted == {True, False}


@pytest.mark.requirement("LIVE-04")
def test_a_deletion_of_credentials_is_claimed_where_they_are_known_to_be_there() -> None:
    claimed = 0
    for steps in sent(ChangeCredentials, 60):
        there = False
        for step in steps:
            deletes = bool(step.body["deletions"])
            if deletes and step.expect is not None:
                assert there
                claimed += 1
            there = not deletes
    assert claimed


def test_no_client_of_a_plan_meets_a_quota() -> None:
    for steps in sent(ChangeQuotas, 60):
        for step in steps:
            [entry] = step.body["entries"]
            names = [each["entity_name"] for each in entry["entity"]]
            if names == [None]:
                least = min(UNLIMITED[op["key"]][0] for op in entry["ops"])
                assert all(op["remove"] or op["value"] >= least for op in entry["ops"])


@pytest.mark.parametrize(
    ("target", "version", "operation", "there"),
    [
        ("quorum", "1", ChangeAcls, True),
        ("quorum", "1", ChangeQuotas, False),
        ("zk-controller", "1", ChangeAcls, False),
        ("leader-driven", "1", SameFeatureLevel, False),
        ("apache-kafka", "3.4.1", ChangeCredentials, False),
        ("apache-kafka", "3.4.1..4.0.0", ChangeCredentials, False),
        ("apache-kafka", "3.5.2", ChangeCredentials, True),
        ("apache-kafka-zk", "2.7.2", ChangeCredentials, True),
        ("apache-kafka-zk", "2.7.2", ChangeQuotas, False),
        ("apache-kafka", "3.2.3", SameFeatureLevel, False),
        ("apache-kafka", "3.3.2", SameFeatureLevel, True),
    ],
)
def test_plans_have_what_the_release_has(target: str, version: str, operation: type[Operation], there: bool) -> None:
    assert (operation().left_out_reason(load_file(target), version, frozenset()) is None) is there


def test_plans_with_entries_have_an_authorizer() -> None:
    for operation in (ChangeAcls, MistakenAcls, RefusedRequests):
        assert operation.settings["allow.everyone.if.no.acl.found"] == "true"
