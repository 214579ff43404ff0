"""`security` of a target file: its plans are run so, by a driver or by templates, and the doctor asks so."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.campaign.planner import generate, left_out
from fencepost.harness.doctor import broker
from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import HarnessError, InfrastructureError, UsageError
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import VARIABLE, load_file
from fencepost.harness.targets.securing import security_for
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts

SEEN = Path(__file__).with_name("quorum-as-clients-see-it.yaml")
EXTENDED = """\
name: secured-quorum
title: the reference cluster, secured
extends: quorum
security: tls-scram
"""
LOGINS = "security: {client: {protocol: SASL_SSL, mechanism: SCRAM-SHA-512}, internal: {protocol: SSL}}\n"
PLAINTEXT = "INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT\n"
BY_TEMPLATES = """\
INTERNAL:{{ security.internal.protocol }},CLIENT:{{ security.client.protocol }}
      ssl.keystore.type: PEM
      ssl.truststore.type: PEM
      ssl.keystore.location: "{{ keystore }}"
      ssl.truststore.location: "{{ truststore }}"
      sasl.enabled.mechanisms: "{{ security.client.mechanism }}"
      listener.name.client.scram-sha-512.sasl.jaas.config: >-
        org.apache.kafka.common.security.scram.ScramLoginModule required
        {% for user, password in users.items() %}user_{{ user }}="{{ password }}" {% endfor %};
"""


@pytest.fixture(autouse=True)
def own_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")


@pytest.fixture
def extended(tmp_path: Path) -> str:
    path = tmp_path / "secured-quorum.yaml"
    path.write_text(EXTENDED)
    return str(path)


@pytest.fixture
def by_templates(tmp_path: Path) -> str:
    path = tmp_path / "acme.yaml"
    text = SEEN.read_text().replace("quorum-as-clients-see-it", "acme").replace(PLAINTEXT, BY_TEMPLATES)
    path.write_text(text + LOGINS)
    return str(path)


def planned(target: str) -> Plan:
    facts = TargetFacts.of(target)
    return next(each for each in scenarios_for(facts) if each.slug == "any-kill").plan(facts, 1)


def test_a_plan_is_run_with_the_security_of_its_target_unless_it_has_its_own(extended: str) -> None:
    plan, _ = check_plan(planned(extended))
    assert plan.security == "tls-scram"
    plan, _ = check_plan(plan.model_copy(update={"security": "sasl"}))
    assert plan.security == "sasl"


def test_the_option_wins_over_the_target_file_and_plaintext_is_no_security(extended: str) -> None:
    file = load_file(extended)
    assert security_for(file, None) == "tls-scram"
    assert security_for(file, "tls") == "tls"
    with pytest.raises(UsageError, match="target file of secured-quorum has a `security`: leave the option out"):
        security_for(file, "plaintext")


def test_random_plans_of_such_a_target_have_it_and_nothing_that_it_makes_impossible(extended: str) -> None:
    plans = [generate(extended, "process", seed) for seed in range(5)]
    assert {plan.security for plan in plans} == {"tls-scram"}
    file = load_file(extended)
    assert "lost-request" in {each.kind for each in left_out(file, "process", file.version)}


def test_scenarios_that_its_security_makes_impossible_are_listed_with_the_reason(extended: str) -> None:
    scenarios = {each.slug: each for each in scenarios_for(TargetFacts.of(extended))}
    reason = scenarios["links-torn-fetch"].unavailable_reason(TargetFacts.of(extended))
    assert "under TLS the bytes of messages cannot be counted" in str(reason)
    assert scenarios["links-torn-fetch"].unavailable_reason(TargetFacts.of("quorum")) is None
    assert scenarios["any-kill"].unavailable_reason(TargetFacts.of(extended)) is None


def test_templates_have_the_security_of_their_file_and_no_other(by_templates: str) -> None:
    plan = planned(by_templates)
    assert check_plan(plan)[0].secured.client.protocol == "SASL_SSL"
    with pytest.raises(UsageError, match="the templates of acme are for the `security` of its target file"):
        check_plan(plan.model_copy(update={"security": "tls"}))
    path = Path(by_templates)
    path.write_text(path.read_text().replace(LOGINS, ""))
    with pytest.raises(UsageError, match="no listener of acme is secured here: its target file has no `security`"):
        check_plan(plan.model_copy(update={"security": "tls"}))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("security: tls-scam\n", r"`security` at .*acme.yaml:\d+"),
        ("security: {client: {protocol: SASL_SSL}}\n", "SASL_SSL needs a `mechanism`"),
    ],
)
def test_a_security_that_there_is_not_is_a_mistake_with_its_line(line: str, message: str, by_templates: str) -> None:
    path = Path(by_templates)
    path.write_text(path.read_text().replace(LOGINS, line))
    with pytest.raises(HarnessError, match=message):
        load_file(by_templates)


def test_a_cluster_elsewhere_says_how_it_is_reached_in_another_key(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    keys = "name: ours\ntitle: ours\nversion: 1\ndialect: clients\nbrokers: {ids: [1]}\nsecurity: tls\n"
    path.write_text(keys + "running: {bootstrap: ['127.0.0.1:9092']}\n")
    with pytest.raises(HarnessError, match="`security` is for clusters that are started here"):
        load_file(str(path))


@pytest.mark.integration
def test_the_doctor_asks_a_broker_that_templates_secure(by_templates: str, tmp_path: Path) -> None:
    answers = broker.examine(by_templates, tmp_path)
    assert answers.creation == "none"
    assert answers.at_peer_port
    assert not [file for file in answers.files if file.endswith(".pem")]
    assert {"sasl_handshake", "produce"} <= answers.offered.keys()


@pytest.mark.integration
def test_the_doctor_says_that_a_broker_does_not_serve_the_security_of_its_file(
    by_templates: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "START_SECONDS", 3.0)
    path = Path(by_templates)
    path.write_text(path.read_text().replace("{{ security.client.protocol }}", "PLAINTEXT"))
    with pytest.raises(InfrastructureError, match="node-111 does not answer ApiVersions over TLS at"):
        broker.examine(by_templates, tmp_path)


@pytest.mark.integration
def test_a_run_on_listeners_that_templates_secure_passes_and_its_plan_says_so(
    by_templates: str, tmp_path: Path
) -> None:
    folder, verdict = run(planned(by_templates), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, verdict.headline
    assert load_plan(folder.plan).secured.client.mechanism == "SCRAM-SHA-512"
    assert (folder.path / "security" / "ca.pem").exists()
