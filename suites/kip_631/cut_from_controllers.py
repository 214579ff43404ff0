"""A leader that is cut from all controllers stops serving when its lease ends."""

from __future__ import annotations

from functools import partial

from fencepost.suites import vocabulary as v


def cut(leader: str) -> v.Step:
    return v.inject("cut", v.CutParameters(from_=leader, to="controllers"))


def stall(leader: str) -> v.Step:
    return v.inject("cut", v.StallParameters(from_=leader, to="controllers"))


def replies_lost(leader: str) -> v.Step:
    """Lose the controllers' answers; the heartbeats still arrive."""
    return v.inject("cut", v.OneWayParameters(from_="controllers", to=leader))


FAULTS = {"cut": cut, "stall": stall, "replies": replies_lost}


_cut = partial(v.scenario, seconds=10)


@_cut("cut-from-controllers-cut", "A broker cut from all controllers serves nothing after its lease", "cut")
@_cut(
    "cut-from-controllers-stall",
    "A broker whose links to all controllers stall serves nothing after its lease",
    "stall",
)
@_cut(
    "cut-from-controllers-replies",
    "A broker whose heartbeats are not answered serves nothing after its lease",
    "replies",
)
def build(how: str, draft: v.Draft) -> v.Plan:
    target = draft.target
    leader = draft.leader
    serves_on = target.unless("AK-04", v.never_serves("K631-32", "K631-31", "K631-43"), v.serves("K631-32"))
    # A deposed leader that serves on hands out its old metadata too: a client that asks only that leader stays with it
    # until the links are mended.
    unheld = v.goes_on()
    goes_on = [] if target.differs("AK-04") else [unheld]
    steps: list[v.Step] = [
        v.Bind(as_="epoch", value=f"broker-epoch:{leader}"),
        FAULTS[how](leader),
        v.Hold(as_="lease-over", after="cut.proven", ms=draft.timing.lease_ms),
        *v.service_probes("alone", leader, serves_on, after=v.After(event="cut.proven", plus_ms=draft.timing.lease_ms)),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=v.must("D631-06")),
        v.IsrIs(as_="left", partition="t-0", lacks=leader, expect=v.must("D631-07")),
        *goes_on,
        *v.service_probes("deposed", leader, serves_on, repeat=1),
        v.Heal(as_="mend", fault="cut"),
        v.BrokerActive(as_="returned", node=leader, expect=v.must("K631-44")),
        *renewed(target, leader),
    ]
    return draft.plan(steps, "alone-produce", v.acknowledged("moved.ended"))


def renewed(target: v.TargetFacts, broker: str) -> list[v.Step]:
    """Expect that the lease returned with a new epoch, and that the old epoch is refused."""
    old = v.HeartbeatProbe(
        as_="old-epoch",
        node="active-controller",
        broker=broker,
        broker_epoch="$epoch",
        expect=target.unless("AK-03", v.answers("D631-19", "error:77"), v.serves("D631-19")),
        unchanged=("brokers",),
    )
    if target.differs("AK-03"):
        return [old]
    epoch = v.BrokerEpochAbove(as_="new-epoch", node=broker, value="$epoch", expect=v.must("K631-44", "D631-08"))
    return [epoch, old]
