"""Story 5: two processes claim one broker id."""

from __future__ import annotations

from functools import partial
from typing import Literal

from faults.capabilities import Capability
from harness.plan.base import After
from harness.plan.conditions import BrokerActive, BrokerEpochAbove, IsrIs, LeaderIs
from harness.plan.injects import InjectDuplicate
from harness.plan.model import Acknowledged, Coverage, FaultProven, NodeSpec, Plan, StepDone, Timing
from harness.plan.probes import MetadataProbe
from harness.plan.steps import Bind, Heal, Hold, Step
from suites.building import (
    LIVELY_MS,
    answers,
    ask,
    cast,
    closing,
    compose,
    duplicate_of,
    must,
    never,
    never_serves,
    opening,
    pace,
    six,
    topic,
)
from suites.story import Story, TargetFacts

Directory = Literal["empty", "cloned"]
LONG_LEASE_MS = 4000
"""Where the elder stays it must not lose its session to a machine that is busy with starting the newcomer."""


def build(directory: Directory, story: Story, target: TargetFacts, seed: int) -> Plan:
    elder, *others = cast(story, seed)
    newcomer = duplicate_of(elder, directory)
    if target.differs("AK-01"):
        timing = pace(target, lease_ms=LONG_LEASE_MS)
        middle, coverage = newcomer_is_refused(elder, newcomer)
    else:
        timing = pace(target)
        middle, coverage = newcomer_wins(elder, newcomer.name, timing)
    steps = [
        *opening(elder),
        Bind(as_="elder-epoch", value=f"broker-epoch:{elder}"),
        InjectDuplicate(as_="duplicate", node=newcomer.name),
        *middle,
        *closing(),
    ]
    return compose(
        story,
        target,
        seed,
        timing=timing,
        topology=six(more=[newcomer]),
        topics=[topic([elder, *others])],
        steps=steps,
        coverage=[
            FaultProven(fault="duplicate"),
            *coverage,
            Acknowledged(by="p1", acks="all", after="duplicate.proven"),
        ],
    )


def newcomer_wins(elder: str, newcomer: str, timing: Timing) -> tuple[list[Step], list[Coverage]]:
    """As the document has it. Once the newcomer dies its lease has to run out before the elder is heard again."""
    calm = 2 * timing.lease_ms
    silent = never_serves("D631-13")
    steps: list[Step] = [
        BrokerEpochAbove(as_="won", node=elder, value="$elder-epoch", within_ms=LIVELY_MS, expect=must("K631-39")),
        Hold(as_="lease-over", after="won.ended", ms=timing.lease_ms),
        *ask("elder", elder, silent, after=After(event="won.ended", plus_ms=timing.lease_ms)),
        BrokerActive(as_="serves", node=newcomer, within_ms=LIVELY_MS, expect=must("K631-39")),
        IsrIs(as_="replicates", partition="t-0", has=elder, within_ms=LIVELY_MS, expect=must("ISR-06")),
        Bind(as_="newcomer-epoch", value=f"broker-epoch:{elder}"),
        BrokerEpochAbove(as_="ousted", node=elder, value="$newcomer-epoch", within_ms=calm, expect=never("D631-15")),
        *ask("still", elder, silent, repeat=1),
        Heal(as_="newcomer-dies", fault="duplicate"),
        BrokerEpochAbove(
            as_="elder-back", node=elder, value="$newcomer-epoch", within_ms=LIVELY_MS, expect=must("D631-14")
        ),
        BrokerActive(as_="elder-serves", node=elder, within_ms=LIVELY_MS, expect=must("D631-14")),
    ]
    return steps, [StepDone(step="elder-produce"), StepDone(step="still-produce"), StepDone(step="elder-serves")]


def newcomer_is_refused(elder: str, newcomer: NodeSpec) -> tuple[list[Step], list[Coverage]]:
    """As shipped Kafka has it: the elder keeps id and epoch, and serves.

    With a directory of its own the refused newcomer still takes leaderships from the elder (AK-08).
    """
    keeps = answers("K631-39", "served").model_copy(update={"difference": "AK-01"})
    stays = never("K631-39").model_copy(update={"difference": "AK-01"})
    metadata, fetch, produce = ask("elder", elder, keeps)
    robbed = LeaderIs(
        as_="robbed",
        partition="t-0",
        is_not=elder,
        within_ms=LIVELY_MS,
        expect=must("K631-38").model_copy(update={"difference": "AK-08"}),
    )
    steps: list[Step] = [
        BrokerEpochAbove(as_="refused", node=elder, value="$elder-epoch", within_ms=6000, expect=stays),
        metadata,
        fetch,
        robbed if newcomer.directory == "empty" else produce,
        MetadataProbe(as_="newcomer", node=newcomer.name, topic="t", timeout_ms=500, expect=never_serves("K631-38")),
        Heal(as_="newcomer-dies", fault="duplicate"),
    ]
    return steps, [StepDone(step="elder-metadata"), StepDone(step="newcomer")]


def _story(directory: Directory, title: str) -> Story:
    return Story(
        slug=f"duplicate-id-{directory}",
        title=title,
        requirements=(
            "K631-28",
            "K631-38",
            "K631-39",
            "K631-40",
            "D631-12",
            "D631-13",
            "D631-14",
            "D631-15",
            "ISR-06",
            "LIVE-01",
            "LIVE-03",
        ),
        needs=frozenset({Capability.DUPLICATE}),
        seconds=18,
        build=partial(build, directory),
    )


STORIES = (
    _story("empty", "Of two processes with one broker id the newcomer wins and the elder falls silent"),
    _story("cloned", "The same with a copy of the elder's directory: the newcomer wins and the elder falls silent"),
)
