"""A leader whose heartbeats are lost or not answered, or that is cut off together with a former controller."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

FENCE_MS = 4000
"""Far enough above the controller's timeout that the time between the two can be observed."""


def cut(leader: str, controller: str, as_: str) -> v.Step:
    return v.inject(as_, v.CutParameters(from_=leader, to=controller))


def stall(leader: str, controller: str, as_: str) -> v.Step:
    return v.inject(as_, v.StallParameters(from_=leader, to=controller))


FAULTS = {"cut": cut, "stall": stall}


@v.kip_343_scenario(
    "silent-broker-cut",
    "A leader whose heartbeats are cut off becomes inactive first, and then fences itself",
    "cut",
    seconds=20,
    levels=v.HEARTBEATS_OR_SHIPPED,
)
@v.kip_343_scenario(
    "silent-broker-stall",
    "A leader whose heartbeats stall becomes inactive first, and then fences itself",
    "stall",
    seconds=15,
)
def silent(how: str, draft: v.Draft) -> v.Plan:
    """The leader's heartbeats are lost, all else arrives: it becomes inactive, then fenced, and returns, each time."""
    leader, follower, controller = draft.roles
    draft = draft.timed(fence_ms=FENCE_MS)
    fault = FAULTS[how]
    again = draft.target.has_kip_343 and how == "cut"
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        fault(leader, controller, "away"),
        *_given_up(draft.target, leader, follower, draft.timing),
        v.Registered(as_="unregistered", node=leader, is_=False, within_ms=300, expect=v.never("K343-63")),
        v.Heal(as_="mend", fault="away"),
        v.BrokerActive(as_="returned", node=leader, expect=v.must("K343-21", "K343-32", "K343-36")),
        v.BrokerEpochAbove(as_="another", node=leader, value="$epoch", within_ms=300, expect=v.never("K343-05")),
        v.IsrIs(as_="rejoined", partition="t-0", has=leader, expect=v.must("ISR-06")),
        *(_once_more(fault(leader, controller, "away-again"), leader) if again else []),
    ]
    return draft.plan(steps, "alone-produce", v.acknowledged("alone-produce.ended"))


def _given_up(target: v.TargetFacts, leader: str, follower: str, timing: v.Timing) -> list[v.Step]:
    after = v.After(event="away.proven", plus_ms=timing.fence_ms)
    over = v.Hold(as_="fence-over", after="away.proven", ms=timing.fence_ms)
    if target.differs("AZ-01"):
        lives = v.never("K343-20").model_copy(update={"difference": "AZ-01"})
        serves = v.serves("K343-16").model_copy(update={"difference": "AZ-01"})
        return [
            v.BrokerFenced(as_="inactive", node=leader, within_ms=2 * timing.session_ms, expect=lives),
            over,
            *v.service_probes("alone", leader, serves, after=after),
        ]
    return [
        v.BrokerFenced(as_="inactive", node=leader, expect=v.must("K343-20", "K343-35", "K343-53")),
        v.MetadataProbe(as_="not-yet-fenced", node=leader, topic="t", expect=v.serves("K343-24", "K343-22")),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("K343-10", "D343-06")),
        v.MetadataFrom(as_="absent", node=follower, lacks=leader, expect=v.must("K343-09")),
        v.BrokerFenced(as_="fenced", node=leader, by="itself", expect=v.must("K343-16", "K343-54")),
        over,
        *([_joins(leader, follower)] if target.has_kip_343 else []),
        *v.service_probes("alone", leader, v.never_serves("K343-18"), after=after),
        v.goes_on(),
    ]


def _joins(inactive: str, leads: str) -> v.Step:
    """Ask, in the name of the present leader, for an ISR with the inactive broker (KAFKA-13916)."""
    return v.IsrChangeProbe(
        as_="joins",
        node="active-controller",
        topic="t",
        broker="leader:t-0",
        isr=(leads, inactive),
        expect=v.answers("D343-11", "error:42"),
        unchanged=("t-0",),
    )


def _once_more(fault: v.Step, leader: str) -> list[v.Step]:
    return [
        fault,
        v.BrokerFenced(as_="inactive-again", node=leader, expect=v.must("K343-20")),
        v.BrokerFenced(as_="fenced-again", node=leader, by="itself", expect=v.must("K343-19")),
        v.Heal(as_="mend-again", fault="away-again"),
        v.BrokerActive(as_="returned-again", node=leader, expect=v.must("K343-19")),
    ]


@v.kip_343_scenario(
    "unanswered-broker",
    "A leader whose heartbeats are not answered fences itself while the controller holds it to be active",
    seconds=14,
)
def unanswered(draft: v.Draft) -> v.Plan:
    """The controller hears the leader, which does not hear it: it stays active there and fences itself all the same."""
    leader, follower, controller = draft.roles
    after = v.After(event="away.proven", plus_ms=draft.timing.fence_ms)
    steps: list[v.Step] = [
        v.inject("away", v.StallParameters(from_=leader, to=controller, streams="replies")),
        v.BrokerFenced(as_="fenced", node=leader, by="itself", expect=v.must("D343-02", "K343-54")),
        v.BrokerFenced(
            as_="inactive",
            node=leader,
            within_ms=2 * draft.timing.lease_ms,
            expect=v.never("D343-03", "K343-22", "K343-53"),
        ),
        v.MetadataFrom(as_="still-there", node=follower, has=leader, within_ms=500, expect=v.must("D343-03")),
        *v.service_probes("alone", leader, v.never_serves("K343-18"), after=after),
        v.Heal(as_="mend", fault="away"),
        v.BrokerActive(as_="returned", node=leader, expect=v.must("K343-19", "K343-32")),
    ]
    return draft.plan(steps, "alone-produce", v.acknowledged("mend.ended"))


@v.kip_343_scenario(
    "minority-side-heartbeats",
    "A former controller on the minority side of a network partition keeps no leader alive",
    seconds=15,
)
def minority_side(draft: v.Draft) -> v.Plan:
    """A former controller and a leader reach only each other and clients: the controller grants nothing there."""
    leader, follower, controller = draft.roles
    alone_ms = draft.timing.session_ms + draft.timing.fence_ms
    steps: list[v.Step] = [
        v.inject("cut", v.IsolateParameters(nodes=(leader, controller), from_=("zookeeper", follower), how="stall")),
        v.ActiveController(as_="elected", is_=follower, expect=v.must("INT-66")),
        v.LeaderIs(as_="moved", partition="t-0", is_=follower, expect=v.must("INT-28")),
        v.Hold(as_="over", after="cut.proven", ms=alone_ms),
        *v.service_probes(
            "cut-off", leader, v.never_serves("D343-20"), after=v.After(event="cut.proven", plus_ms=alone_ms)
        ),
        v.MetadataHeartbeatProbe(
            as_="grants", node=controller, broker=leader, timeout_ms=700, expect=v.never_serves("D343-20")
        ),
        v.Heal(as_="mend", fault="cut"),
    ]
    return draft.plan(
        steps,
        "cut-off-produce",
        "grants",
        v.acknowledged("mend.ended"),
        topics=[v.topic([leader, follower, controller], min_isr=1)],
    )
