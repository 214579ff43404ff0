"""Commands of the controller: refused at wrong epochs, harmless when repeated, and retried when a channel hangs."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

STATE = ("t-0", "brokers")


@v.internals_scenario(
    "stale-commands",
    "Commands at old epochs of controller, broker and leader are refused and change nothing",
    seconds=15,
)
def stale(draft: v.Draft) -> v.Plan:
    """First the epochs of leader, broker and controller move, so that each request was valid once."""
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.Bind(as_="broker-epoch", value=f"broker-epoch:{follower}"),
        v.Bind(as_="leader-epoch", value="leader-epoch:t-0"),
        v.inject("bounce", v.KillParameters(nodes=follower)),
        v.Registered(as_="gone", node=follower, is_=False, expect=v.must("INT-43")),
        v.Heal(as_="back", fault="bounce"),
        v.BrokerEpochAbove(as_="anew", node=follower, value="$broker-epoch", expect=v.must("DINT-09")),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("INT-26")),
        *_three("controller", follower, v.answers("DINT-05", "error:11"), controller_epoch="stale"),
        *_three("broker", follower, v.answers("DINT-06", "error:77"), broker_epoch="$broker-epoch"),
        *_old_leader_term(follower),
        v.ControlledShutdownProbe(
            as_="shutdown-stale",
            node="active-controller",
            broker=follower,
            broker_epoch="$broker-epoch",
            expect=v.answers("DINT-24", "error:77"),
            unchanged=STATE,
        ),
        v.ControlledShutdownProbe(
            as_="shutdown-elsewhere",
            node=leader,
            broker=follower,
            expect=v.answers("INT-01", "error:[11, 41]"),
            unchanged=STATE,
        ),
        *_twice(follower),
        v.Bind(as_="controller-epoch", value="controller-epoch"),
        v.inject("failover", v.KillParameters(nodes=controller)),
        v.ActiveController(as_="elected", is_not=controller, expect=v.must("INT-66")),
        v.BrokerActive(as_="known", node=follower, expect=v.must("INT-64")),
        v.Heal(as_="restored", fault="failover"),
        v.IsrIs(as_="whole-again", partition="t-0", has=controller, expect=v.must("ISR-06")),
        *_three("past", follower, v.answers("DINT-05", "error:11"), controller_epoch="$controller-epoch"),
    ]
    return draft.plan(steps, "past-stop-replica", v.acknowledged("elected.ended"))


def _three(
    name: str, broker: str, expect: v.ExpectOutcome, *, controller_epoch: str = "current", broker_epoch: str = "current"
) -> list[v.Step]:
    """Return all three commands, each of which would have an effect if the broker obeyed it."""
    return [
        v.LeaderAndIsrProbe(
            as_=f"{name}-leader-and-isr",
            node=broker,
            topic="t",
            leader=broker,
            controller_epoch=controller_epoch,
            broker_epoch=broker_epoch,
            expect=expect,
            unchanged=STATE,
        ),
        v.StopReplicaProbe(
            as_=f"{name}-stop-replica",
            node=broker,
            topic="t",
            delete=True,
            controller_epoch=controller_epoch,
            broker_epoch=broker_epoch,
            expect=expect,
            unchanged=STATE,
        ),
        v.UpdateMetadataProbe(
            as_=f"{name}-update-metadata",
            node=broker,
            controller_epoch=controller_epoch,
            broker_epoch=broker_epoch,
            expect=expect,
            unchanged=STATE,
        ),
        _leads_not(f"{name}-leads-not", broker, expect.requirement),
    ]


def _leads_not(as_: str, broker: str, requirement: str) -> v.Step:
    return v.produced_at(as_, broker, 1, v.answers(requirement, "error:6"))


def _old_leader_term(broker: str) -> list[v.Step]:
    """Send commands at an older leader epoch: the broker may refuse or ignore them, and its replica stays as it is."""
    return [
        v.LeaderAndIsrProbe(
            as_="leader-term-leader-and-isr",
            node=broker,
            topic="t",
            leader=broker,
            leader_epoch="$leader-epoch",
            unchanged=STATE,
            expect=v.may_answer("DINT-07", "refused"),
        ),
        v.StopReplicaProbe(
            as_="leader-term-stop-replica",
            node=broker,
            topic="t",
            delete=True,
            leader_epoch="$leader-epoch",
            unchanged=STATE,
            expect=v.may_answer("DINT-07", "refused"),
        ),
        _leads_not("leader-term-leads-not", broker, "DINT-07"),
    ]


def _twice(broker: str) -> list[v.Step]:
    """Send commands that are carried out already."""
    return [
        v.LeaderAndIsrProbe(
            as_="twice-leader-and-isr",
            node=broker,
            topic="t",
            repeat=2,
            unchanged=STATE,
            expect=v.may_answer("INT-21", "served"),
        ),
        v.UpdateMetadataProbe(
            as_="twice-update-metadata", node=broker, repeat=2, unchanged=STATE, expect=v.serves("INT-21")
        ),
        _leads_not("twice-leads-not", broker, "INT-21"),
    ]


@v.internals_scenario(
    "stalled-channel", "A connection that hangs counts as no death and delays no other broker", seconds=14
)
def stalled_channel(draft: v.Draft) -> v.Plan:
    """Commands to one broker hang for longer than the socket timeout; the other brokers get theirs at once."""
    leader, unheard, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("stall", v.StallParameters(from_=controller, to=unheard)),
        v.CreateTopicProbe(as_="news", node=controller, topic="news", timeout_ms=9000),
        v.MetadataFrom(
            as_="others-know", node=leader, partition="news-0", within_ms=2000, expect=v.must("INT-14", "INT-12")
        ),
        v.MetadataProbe(as_="it-does-not", node=unheard, topic="news", expect=v.answers("INT-15", "error:3")),
        v.Registered(
            as_="given-up", node=unheard, is_=False, within_ms=3 * draft.timing.session_ms, expect=v.never("INT-43")
        ),
        v.Hold(as_="long", after="stall.proven", ms=6000),
        v.goes_on(),
        v.Heal(as_="mend", fault="stall"),
    ]
    return draft.plan(
        steps,
        "it-does-not",
        "knows-at-last",
        v.acknowledged("stall.proven", before="mend.begun"),
        afterwards=[v.MetadataProbe(as_="knows-at-last", node=unheard, topic="news", expect=v.serves("INT-18"))],
    )
