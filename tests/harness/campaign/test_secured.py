"""Random plans with secured listeners have no feature that the security makes impossible."""

from __future__ import annotations

from fencepost.faults.registry import names_in_family
from fencepost.harness.campaign.planner import generate, left_out
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.securing import impossible

SEEDS = range(40)


def knows_messages(plan: Plan) -> bool:
    return any(isinstance(step, InjectStep) and step.fault in names_in_family("messages") for step in plan.steps)


def has_entries(plan: Plan) -> bool:
    return plan.settings is not None and "authorizer.class.name" in plan.settings.all


def test_plans_with_tls_and_logins_leave_out_messages_and_access_control_entries() -> None:
    plain = [generate("quorum", "process", seed) for seed in SEEDS]
    assert any(map(has_entries, plain))
    secured = [generate("quorum", "process", seed, security="tls-scram") for seed in SEEDS]
    assert {plan.security for plan in secured} == {"tls-scram"}
    assert not any(map(knows_messages, secured))
    assert not any(map(has_entries, secured))
    assert {impossible(plan) for plan in secured} == {None}


def test_the_reason_of_what_is_left_out_is_given() -> None:
    file = load("quorum").file
    reasons = {each.kind: each.reason for each in left_out(file, "process", file.version, "tls-scram")}
    assert reasons["lost-request"] == "there are no messages to see under TLS"
    assert reasons["cut-after-bytes"] == "under TLS the bytes of messages cannot be counted"
    assert reasons["change-acls"] == "clients log in as a super user, to which no entry applies"
    assert "change-acls" not in {each.kind for each in left_out(file, "process", file.version, "tls")}
