"""Two processes claim one broker id: the process with the claim has the id."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.replication_v2 import log_lines as log

CANNOT_RUN, LOST_ITS_ID = 2, 1
"""Exit codes of a broker."""


@v.replication_v2_scenario(
    "v2-duplicate-id",
    "A second process for a leader's id is refused, leads nothing and takes nothing from the queue",
    seconds=14,
)
def taken(draft: v.Draft) -> v.Plan:
    """The second process for a leader's id waits for the claim, takes nothing from the queue, and ends."""
    original, *others = draft.roles
    duplicate = v.duplicate_of(original, "empty")
    other = others[0]
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{original}"),
        v.Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate.name)),
        v.CreateTopicProbe(as_="create", node=other, topic="brief", timeout_ms=10_000, expect=v.serves("LD-58")),
        v.DeleteTopicProbe(as_="delete", node=other, topic="brief", timeout_ms=10_000, expect=v.serves("LD-64")),
        log.has_line("original-drains", original, log.completed("close-replica", "brief-0"), v.must("DLD-01")),
        v.MetadataProbe(
            as_="duplicate-metadata", node=duplicate.name, topic="t", timeout_ms=500, expect=v.never_serves("DLD-01")
        ),
        v.Connected(as_="fetches", node=duplicate.name, to=other, within_ms=500, expect=v.never("DLD-01")),
        v.NodeExited(as_="refused", node=duplicate.name, code=CANNOT_RUN, expect=v.must("DLD-01")),
        log.has_line(
            "drains", duplicate.name, "(received|completed) (start|close)-replica", v.never("DLD-01"), within_ms=200
        ),
        v.BrokerEpochAbove(as_="ousted", node=original, value="$epoch", within_ms=300, expect=v.never("DLD-01")),
        v.LeaderIs(as_="deposed", partition="t-0", is_not=original, within_ms=300, expect=v.never("DLD-01")),
        *v.service_probes("original", original, v.serves("DLD-01"), repeat=1),
        v.goes_on(),
        v.Heal(as_="duplicate-is-gone", fault="duplicate"),
    ]
    return draft.timed(lease_ms=3000).plan(
        steps,
        "refused",
        "original-metadata",
        v.acknowledged("refused.ended"),
        topology=v.zookeeper_cluster(more=[duplicate]),
    )


@v.replication_v2_scenario(
    "v2-duplicate-after-expiry",
    "A broker whose id was taken after its session expired ends when it learns of that",
    seconds=16,
)
def after_expiry(draft: v.Draft) -> v.Plan:
    """The original is cut from ZooKeeper until its session expires and another process has its id; then it ends.

    It returns with its log once the other process is gone.
    """
    _, original, _ = draft.roles
    duplicate = v.duplicate_of(original, "empty")
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{original}"),
        v.inject("cut", v.CutParameters(from_=original, to="zookeeper")),
        v.Registered(as_="gone", node=original, is_=False, expect=v.must("LD-10")),
        v.inject("duplicate", v.DuplicateParameters(node=duplicate.name)),
        v.BrokerEpochAbove(as_="taken", node=original, value="$epoch", expect=v.must("DLD-01")),
        *v.service_probes("original", original, v.never_serves("DLD-15"), repeat=1),
        v.Heal(as_="mend", fault="cut"),
        v.NodeExited(as_="original-ends", node=original, code=LOST_ITS_ID, expect=v.must("DLD-01")),
        v.goes_on(),
        v.Heal(as_="duplicate-dies", fault="duplicate"),
        v.Registered(as_="free", node=original, is_=False, expect=v.must("LD-10")),
        v.Start(as_="original-starts", nodes=original),
    ]
    return draft.plan(
        steps, "taken", v.acknowledged("duplicate-dies.ended"), topology=v.zookeeper_cluster(more=[duplicate])
    )
