"""The frame that plans of scenarios share, their needs, and the probes by which they see whether a broker serves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.faults.capabilities import Capability
from fencepost.harness.plan.model import WorkloadSpec
from fencepost.harness.plan.requests.fetch import FetchProbe
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.steps.hold import Hold
from fencepost.suites.building import service_probes
from fencepost.suites.expectations import never_serves
from fencepost.suites.scenario import Draft
from fencepost.suites.scenarios import SCENARIOS, scenarios_for
from fencepost.suites.target_facts import TargetFacts


@pytest.mark.requirement("DV-03")
def test_a_broker_is_asked_directly_and_at_acks_1_whether_it_serves() -> None:
    metadata, fetch, produce = service_probes("alone", "node-4", never_serves("K631-32"))
    assert (type(metadata), type(fetch), type(produce)) == (MetadataProbe, FetchProbe, ProduceProbe)
    assert {probe.node for probe in (metadata, fetch, produce)} == {"node-4"}
    assert isinstance(produce, ProduceProbe)
    assert produce.acks == 1, "a deposed leader that serves on acknowledges nothing at acks=all either"


def test_a_listed_loss_excuses_no_more_than_its_mechanism_can_have_taken() -> None:
    """A loss that must show is judged as one that may: with no mechanism, any lost record would be excused."""
    target = TargetFacts.of("leader-driven")
    plans = [scenario.plan(target, 1) for scenario in scenarios_for(target) if scenario.slug.startswith("truncated-")]
    listed = [each for plan in plans for each in plan.deviations]
    assert {each.level for each in listed} == {"must", "may"}
    assert {each.mechanism for each in listed} == {"cut-to-high-watermark"}


def test_a_plan_begins_with_its_leader_and_work_and_ends_whole() -> None:
    draft = Draft(SCENARIOS[0], TargetFacts.of("quorum"), seed=1)
    hold = Hold(as_="hold", after="leader-ready.ended", ms=1)
    last = Hold(as_="last", after="whole.ended", ms=1)
    names = [step.as_ for step in draft.plan([hold], afterwards=[last]).steps]
    assert names[:4] == ["leader-ready", "work", "working", "hold"]
    assert names[4:] == ["heal", "whole", "progress", "administered", "stop-work", "last"]
    idle = draft.plan([hold], workload=WorkloadSpec()).steps
    assert [step.as_ for step in idle] == ["leader-ready", "hold", "heal", "whole", "administered"]
    assert draft.plan([hold], framed=False).steps == (hold,)


def test_a_scenario_needs_what_its_faults_need() -> None:
    [scenario] = (scenario for scenario in SCENARIOS if scenario.slug == "stopped-follower")
    facts = TargetFacts.of("quorum")
    assert scenario.capabilities(facts) == {Capability.TERMINATE, Capability.KILL, Capability.LINKS}
    unable = replace(facts, capabilities=facts.capabilities - {Capability.KILL})
    assert scenario.unavailable_reason(unable) == f"{facts.reference} is not capable of kill"
