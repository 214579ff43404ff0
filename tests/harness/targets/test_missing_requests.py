"""Requests that a broker lacks: what needs one of them is skipped, or refused, before anything starts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fencepost.harness.campaign.cluster_spec import generate_cluster
from fencepost.harness.campaign.operations.partitions import AddPartitions
from fencepost.harness.campaign.script import Script
from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import topologies
from fencepost.harness.plan.model import (
    ConsumerSpec,
    MembershipSpec,
    Plan,
    ProducerSpec,
    TopicSpec,
    Topology,
    WorkloadSpec,
)
from fencepost.harness.plan.needed_requests import needed_requests
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.targets.registry import load_file
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.verdict import Verdict
from fencepost.suites import vocabulary as v
from fencepost.suites.scenarios import SUITES, scenarios_for
from fencepost.suites.target_facts import TargetFacts

NO_CLIENTS = WorkloadSpec()
SEEN = Path(__file__).with_name("quorum-as-clients-see-it.yaml")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "acme.yaml"
    path.write_text(SEEN.read_text().replace("quorum-as-clients-see-it", "acme"))
    return path


def _without(target: Path, *requests: str) -> str:
    target.write_text(f"{target.read_text()}missing_requests: [{', '.join(requests)}]\n")
    return str(target)


def _plan(target: str, *steps: v.Step, workload: WorkloadSpec = NO_CLIENTS) -> Plan:
    topology = Topology(nodes=topologies.brokers([111]))
    name = load_file(target).name
    return Plan(
        scenario="s",
        title="s",
        document="d",
        seed=1,
        target=name,
        topology=topology,
        topics=(TopicSpec(name="t", assignments=((111,),)),),
        steps=tuple(steps),
        workload=workload,
    )


GROW = CreatePartitionsProbe(as_="grow", node="node-111", topic="t", count=2)
WRITTEN_OUT = ApiProbe(as_="list", node="node-111", api="list_groups")
GROUPED = WorkloadSpec(consumers=(ConsumerSpec(name="c", topic="t", membership=MembershipSpec(group="g")),))


@pytest.mark.parametrize(
    ("part", "request_", "message"),
    [
        (GROW, "create_partitions", "the step grow needs create_partitions, which acme lacks"),
        (WRITTEN_OUT, "list_groups", "the step list needs list_groups"),
        (GROUPED, "join_group", "the consumer c needs join_group"),
        (WorkloadSpec(producers=(ProducerSpec(name="p", topic="t"),)), "init_producer_id", "the producer p needs"),
    ],
)
def test_a_plan_that_needs_a_missing_request_is_refused_before_anything_starts(
    part: v.Step | WorkloadSpec, request_: str, message: str, target: Path
) -> None:
    def plan(of: str) -> Plan:
        return _plan(of, workload=part) if isinstance(part, WorkloadSpec) else _plan(of, part)

    asked = dict(needed_requests(plan(str(target))))
    assert request_ in asked
    with pytest.raises(UsageError, match=message):
        check_plan(plan(_without(target, request_)))


def test_a_request_that_does_not_exist_is_refused_with_the_nearest_one(target: Path) -> None:
    with pytest.raises(YamlFileError, match=r"no API `create_partition`.*create_partitions"):
        load_file(_without(target, "create_partition"))


def test_scenarios_that_need_a_missing_request_are_skipped_with_the_reason(target: Path) -> None:
    facts = TargetFacts.of(_without(target, "delete_topics", "create_partitions"))
    reasons = {each.slug: each.unavailable_reason(facts) or "" for each in scenarios_for(facts)}
    assert "lacks the request delete_topics, which the step delete needs" in reasons["any-deletes-one"]
    assert "delete_topics" in reasons["any-kill"], "its end deletes topics through each broker"
    target.write_text(target.read_text().replace("delete_topics, ", ""))
    asked = TargetFacts.of(str(target))
    [as_asked] = [each for each in SUITES["any"] if each.slug == "any-as-asked"]
    assert as_asked.unavailable_reason(asked) is None, "it asks for less then"


def test_producers_are_not_idempotent_where_no_broker_gives_producer_ids(target: Path) -> None:
    facts = TargetFacts.of(_without(target, "init_producer_id"))
    [kill] = [each for each in SUITES["any"] if each.slug == "any-kill"]
    assert kill.unavailable_reason(facts) is None
    assert not any(producer.idempotent for producer in kill.plan(facts, 1).workload.producers)


def test_random_plans_leave_out_operations_that_need_a_missing_request() -> None:
    def opened(*lacks: str) -> Script:
        file = load_file("quorum").model_copy(update={"missing_requests": lacks})
        rng = random.Random(1)
        script = Script(rng, generate_cluster(rng, file, frozenset(), with_duplicate=False), False)
        script.open(())
        return script

    assert AddPartitions().add(opened()) is not None
    assert AddPartitions().add(opened("create_partitions")) is None


@pytest.mark.integration
def test_a_run_whose_broker_lacks_a_request_ends_at_once_and_says_what_to_declare(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    unserved = ApiProbe(as_="describe", node="node-111", api="describe_topic_partitions")
    _, verdict = run(_plan(str(target), unserved), tmp_path / "runs")
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert "Write `missing_requests: [describe_topic_partitions]`" in verdict.headline
