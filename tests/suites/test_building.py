"""The probes by which scenarios see whether a broker serves."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.requests.fetch import FetchProbe
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.suites.building import service_probes
from fencepost.suites.expectations import never_serves
from fencepost.suites.scenarios import scenarios_for
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
