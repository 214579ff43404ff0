"""Each command of the owner of a secured cluster of three brokers, proven from outside and undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from fencepost.harness.engine.run import run
from fencepost.harness.processes.resources import RESOURCES, read_resources
from fencepost.harness.targets.consent import VARIABLE
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import SCENARIOS
from fencepost.suites.target_facts import TargetFacts
from tests.harness.targets.running_brokers import CLUSTER, PASSWORD, running, topics

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ours")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[AdminClient]:
    with running(folder) as admin:
        yield admin


@pytest.fixture(autouse=True)
def consent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, CLUSTER)
    monkeypatch.setenv("OUR_PASSWORD", PASSWORD)


@pytest.mark.parametrize(
    ("slug", "target", "how"),
    [
        ("any-stop", "ours", "the connection that was open ended"),
        ("any-cut-off", "ours", "round trips from outside"),
        ("any-kill", "vanishes", "Metadata of another broker: it is listed no more"),
    ],
)
def test_each_command_is_proven_over_a_secured_connection_and_undone(
    slug: str, target: str, how: str, folder: Path, cluster: AdminClient, tmp_path: Path
) -> None:
    [scenario] = [each for each in SCENARIOS if each.slug == slug]
    facts = TargetFacts.of(str(folder / f"{target}.yaml"))
    assert scenario.unavailable_reason(facts) is None
    found, verdict = run(scenario.plan(facts, 1), tmp_path)
    assert verdict.verdict is Verdict.PASS, verdict.headline
    [proven] = [event for event in read_journal(found.journal).events if event.phase == "proven"]
    assert how in proven.data["how"]
    assert '"kind": "command"' in (found.path / RESOURCES).read_text()
    assert not read_resources(found.path), "it was undone"
    assert topics(cluster) == {"theirs"}
