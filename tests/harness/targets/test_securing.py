"""A security for plans by its name, and steps that are impossible with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.errors import UsageError
from fencepost.harness.plan.file import PlanError, parse_plan
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import NodeSettings
from fencepost.harness.targets.securing import impossible, security_named, with_security

TEXT = Path("docs/walkthrough.yaml").read_text()
PAUSE = "fault: pause, nodes: node-5"
LOSS = "fault: lost-request, from: followers:t-0, to: leader:t-0, api: fetch"
TEAR = "fault: cut-after-bytes, from: followers:t-0, to: leader:t-0, after_bytes: 400"
PLAIN = parse_plan(TEXT, "plan.yaml")


def test_a_plan_gets_the_security_that_is_named_unless_it_has_its_own() -> None:
    assert with_security(PLAIN, "plaintext") is PLAIN
    assert plan_hash(with_security(PLAIN, "plaintext")) == plan_hash(PLAIN)
    secured = with_security(PLAIN, "tls-scram")
    assert secured.security == "tls-scram"
    assert with_security(secured, "sasl").security == "tls-scram"


def test_a_security_that_there_is_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"there is no security 'tls-scam': did you mean tls-scram\?"):
        security_named("tls-scam")


def test_a_tear_is_impossible_under_tls_where_no_bytes_of_messages_are_counted() -> None:
    plan = parse_plan(TEXT.replace(PAUSE, TEAR), "plan.yaml")
    assert impossible(with_security(plan, "sasl-scram")) is None
    reason = "`cut-after-bytes`: under TLS the bytes of messages cannot be counted"
    assert reason in str(impossible(with_security(plan, "tls")))


def test_entries_are_impossible_where_clients_log_in_as_a_super_user() -> None:
    settings = NodeSettings(broker={"authorizer.class.name": "x"})
    plan = PLAIN.model_copy(update={"settings": settings})
    assert impossible(with_security(plan, "tls")) is None
    assert impossible(with_security(plan, "sasl-scram")) == (
        "clients log in as a super user, to which no entry applies"
    )


def test_faults_that_know_messages_are_impossible_under_tls_and_possible_with_logins_alone() -> None:
    plan = parse_plan(TEXT.replace(PAUSE, LOSS), "plan.yaml")
    assert impossible(with_security(plan, "sasl-scram")) is None
    assert impossible(with_security(PLAIN, "tls")) is None
    assert "`lost-request`: there are no messages to see under TLS" in str(impossible(with_security(plan, "tls")))
    written = TEXT.replace(PAUSE, LOSS).replace("seed: 1\n", "seed: 1\nsecurity: tls\n")
    with pytest.raises(PlanError, match=r"there are no messages to see under TLS.* at plan.yaml:\d+"):
        parse_plan(written, "plan.yaml")
