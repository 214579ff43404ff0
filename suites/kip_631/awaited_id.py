"""A partition waits for the process that took the id of its only replica, and not for the one before it."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

LEASE_MS = 4000


@v.scenario(
    "id-awaited-by-a-partition",
    "A process is refused while a partition waits for records that only its successor can have",
    seconds=15,
    needs={v.Capability.TERMINATE},
    dialects=frozenset({v.Dialect.KIP_631}),
)
def awaited(draft: v.Draft) -> v.Plan:
    """By hand another process takes the id of a partition's only replica, is active, and dies.

    What it may have acknowledged, the first process does not have: that one is refused, until it is started again.
    """
    leader, *followers = draft.roles
    draft = draft.timed(lease_ms=LEASE_MS)

    def heartbeat(name: str, expect: v.ExpectOutcome, **more: Any) -> v.Step:
        values = {"node": "active-controller", "broker": leader, "timeout_ms": 5000, **more}
        return v.HeartbeatProbe.model_validate({"as": name, "expect": expect, **values})

    steps: list[v.Step] = [
        v.LeaderIs(as_="alone", partition="s-0", is_=leader),
        v.Bind(as_="first", value=f"broker-epoch:{leader}"),
        heartbeat("taken", v.serves("K631-39", "D631-12"), state="initial", broker_epoch=-1),
        v.BrokerEpochAbove(as_="second", node=leader, value="$first", expect=v.must("K631-39")),
        v.Bind(as_="second-epoch", value=f"broker-epoch:{leader}"),
        heartbeat("active", v.serves("K631-34"), answer={"next_state": "active"}),
        v.LeaderIs(as_="leads", partition="s-0", is_=leader, expect=v.must("LIVE-01")),
        v.Hold(as_="lease-over", after="leads.ended", ms=draft.timing.lease_ms + 1000),
        heartbeat("refused", v.answers("D631-26", "error:77"), state="fenced", broker_epoch="$first"),
        # The first process asks with each of its heartbeats, too.
        v.BrokerEpochAbove(
            as_="given-back", node=leader, value="$second-epoch", within_ms=2000, expect=v.never("D631-26")
        ),
        v.Shutdown(as_="stop", nodes=leader),
        v.Start(as_="start", nodes=leader),
        v.LeaderIs(as_="leads-again", partition="s-0", is_=leader, expect=v.must("LIVE-01")),
    ]
    return draft.plan(
        steps,
        "refused",
        v.acknowledged("leads-again.ended"),
        topics=[v.topic(followers), v.topic([leader], name="s", min_isr=1)],
    )
