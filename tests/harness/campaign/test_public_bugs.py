"""Random plans can have the ingredients of public bugs of the newest release, which no plan was made for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fencepost.harness.campaign.planner import generate
from fencepost.harness.campaign.situations.missed import SettingChangedWhileAway
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.steps.start import Start
from tests.harness.campaign.test_situations import script_of

NEWEST = "apache-kafka:4.4.0"
LOWEST_SEGMENT = 1_048_576
BROKER = 4

Change = tuple[int, int, str, str, str | None]
"""The place in a plan, the type and the name of the resource, the setting, and its value."""


def changes(steps: Sequence[Step]) -> Iterator[Change]:
    for place, step in enumerate(steps):
        if isinstance(step, ApiProbe) and step.api == "incremental_alter_configs" and not step.body["validate_only"]:
            for resource in step.body["resources"]:
                of = resource["resource_type"], resource["resource_name"]
                yield from ((place, *of, change["name"], change["value"]) for change in resource["configs"])


def test_a_segment_gets_smaller_than_a_batch_that_a_replica_missed() -> None:
    """KAFKA-17375: the replica never appends a batch that is larger than a segment may be now."""

    def has_it(steps: Sequence[Step]) -> bool:
        breaks = [place for place, step in enumerate(steps) if isinstance(step, InjectStep)]
        heals = [place for place, step in enumerate(steps) if isinstance(step, Heal)]
        large = [place for place, step in enumerate(steps) if isinstance(step, Produce) and step.size > LOWEST_SEGMENT]
        lowered = [
            place
            for place, *_, name, value in changes(steps)
            if (name, value) == ("segment.bytes", str(LOWEST_SEGMENT))
        ]
        return bool(large and lowered) and breaks[0] < large[0] < lowered[0] < heals[0]

    scripts = [script_of(NEWEST, seed) for seed in range(150)]
    assert all(SettingChangedWhileAway().add(script) for script in scripts)
    assert any(has_it(script.steps) for script in scripts)


def test_a_default_of_all_brokers_is_raised_twice_and_a_broker_restarts_before_the_next_look() -> None:
    """KAFKA-20890: the broker that restarted is back at the value of its file. Each run ends with a look."""

    def has_it(steps: Sequence[Step]) -> bool:
        raised: dict[str, list[tuple[int, int]]] = {}
        for place, type, name, setting, value in changes(steps):
            if (type, name) == (BROKER, "") and value is not None and value.isdecimal():
                raised.setdefault(setting, []).append((place, int(value)))
        restarts = [place for place, step in enumerate(steps) if isinstance(step, Start)]
        return any(
            first < second and restarts and restarts[-1] > place
            for each in raised.values()
            for (_, first), (place, second) in pairwise(each)
        )

    assert any(has_it(generate(NEWEST, "process", seed).steps) for seed in range(200))
