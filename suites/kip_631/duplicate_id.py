"""Two processes claim one broker id."""

from __future__ import annotations

from functools import partial
from typing import Literal

from fencepost.suites import vocabulary as v

Directory = Literal["empty", "cloned"]
LONG_LEASE_MS = 4000
"""Long enough that an original that stays keeps its session while the machine is busy starting the duplicate."""


_duplicate = partial(v.scenario, seconds=18)


@_duplicate(
    "duplicate-id-empty",
    "A duplicate of a broker with an empty directory wins, and the original stops serving",
    "empty",
)
@_duplicate(
    "duplicate-id-cloned",
    "A duplicate of a broker with a copy of its directory wins, and the original stops serving",
    "cloned",
)
def build(directory: Directory, draft: v.Draft) -> v.Plan:
    original = draft.leader
    duplicate = v.duplicate_of(original, directory)
    if draft.target.differs("AK-01"):
        draft = draft.timed(lease_ms=LONG_LEASE_MS)
        middle, coverage = duplicate_is_refused(
            original, duplicate, takes_over=directory == "empty" and draft.target.differs("AK-08")
        )
    else:
        middle, coverage = duplicate_wins(original, duplicate.name, draft.timing)
    steps: list[v.Step] = [
        v.Bind(as_="original-epoch", value=f"broker-epoch:{original}"),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate.name)),
        *middle,
    ]
    return draft.plan(steps, *coverage, v.acknowledged("duplicate.proven"), topology=v.quorum_cluster(more=[duplicate]))


def duplicate_wins(original: str, duplicate: str, timing: v.Timing) -> tuple[list[v.Step], list[v.Coverage | str]]:
    """Expect what KIP-631 says; the original is accepted once the lease of the dead duplicate has run out."""
    two_leases_ms = 2 * timing.lease_ms
    silent = v.never_serves("D631-13", "K631-38")
    steps: list[v.Step] = [
        v.BrokerEpochAbove(as_="won", node=original, value="$original-epoch", expect=v.must("K631-39", "D631-12")),
        v.Hold(as_="lease-over", after="won.ended", ms=timing.lease_ms),
        *v.service_probes("original", original, silent, after=v.After(event="won.ended", plus_ms=timing.lease_ms)),
        v.BrokerActive(as_="serves", node=duplicate, expect=v.must("K631-39")),
        v.IsrIs(as_="replicates", partition="t-0", has=original, expect=v.must("ISR-06")),
        v.Bind(as_="duplicate-epoch", value=f"broker-epoch:{original}"),
        v.BrokerEpochAbove(
            as_="ousted",
            node=original,
            value="$duplicate-epoch",
            within_ms=two_leases_ms,
            expect=v.never("D631-15", "K631-28", "K631-40"),
        ),
        *v.service_probes("still", original, silent, repeat=1),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
        v.BrokerEpochAbove(as_="original-back", node=original, value="$duplicate-epoch", expect=v.must("D631-14")),
        v.BrokerActive(as_="original-serves", node=original, expect=v.must("D631-14")),
    ]
    return steps, ["original-produce", "still-produce", "original-serves"]


def duplicate_is_refused(
    original: str, duplicate: v.NodeSpec, *, takes_over: bool
) -> tuple[list[v.Step], list[v.Coverage | str]]:
    """Expect what shipped Kafka does: the original keeps id and epoch, and serves.

    With a directory of its own the refused duplicate still takes leaderships from the original (AK-08, `takes_over`).
    """
    keeps = v.serves("K631-39").model_copy(update={"difference": "AK-01"})
    stays = v.never("K631-39").model_copy(update={"difference": "AK-01"})
    metadata, fetch, produce = v.service_probes("original", original, keeps)
    deposed = v.LeaderIs(
        as_="deposed",
        partition="t-0",
        is_not=original,
        expect=v.must("K631-38").model_copy(update={"difference": "AK-08"}),
    )
    steps: list[v.Step] = [
        v.BrokerEpochAbove(as_="refused", node=original, value="$original-epoch", within_ms=6000, expect=stays),
        metadata,
        fetch,
        deposed if takes_over else produce,
        v.MetadataProbe(
            as_="duplicate-metadata", node=duplicate.name, topic="t", timeout_ms=500, expect=v.never_serves("K631-38")
        ),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
    ]
    return steps, ["original-metadata", "duplicate-metadata"]
