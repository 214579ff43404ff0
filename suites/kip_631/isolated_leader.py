"""A leader that is cut from all nodes, and one that is paused beyond its lease."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

READER = v.WorkloadSpec(consumers=(v.CONSUMER.model_copy(update={"topic": "u"}),))
"""Only steps write; a consumer reads up to the high watermark."""


@v.scenario(
    "isolated-leader",
    "A leader cut from followers and controllers acknowledges nothing at acks=all and truncates its log",
    seconds=12,
    dialects=v.ALL_DESIGNS,
)
def cut_off(draft: v.Draft) -> v.Plan:
    """The old leader appends records alone, at offsets that its successor gives to other records.

    At the end the successor dies and the old leader leads again, so that it serves what it kept.
    """
    target = draft.target
    leader, successor, _ = draft.roles
    moved = v.must(target.rule("D631-07", "INT-28", "LD-31"))
    steps: list[v.Step] = [
        v.Workload(as_="read", action="start"),
        v.burst("before", "u", 50, idempotent=False),
        v.Bind(as_="old-broker-epoch", value=f"broker-epoch:{leader}"),
        v.Bind(as_="old-leader-epoch", value="leader-epoch:u-0"),
        v.inject("alone", v.IsolateParameters(nodes=leader, from_=(v.metadata_store(target), "brokers"))),
        v.Produce(as_="unsafe", topic="u", node=leader, acks=1, records=10, timeout_ms=300),
        v.ListOffsetsProbe(as_="frozen", node=leader, topic="u", after=v.After(event="unsafe.ended"), timeout_ms=300),
        v.LeaderIs(as_="moved", partition="u-0", is_=successor, expect=moved),
        *_session_over(target, leader),
        *_leads(target, successor),
        # Sent to the successor itself, once it knows that it leads: a deposed leader that serves on would hold a client
        # that asks it for metadata.
        _knows(target, "known", successor),
        v.Produce(as_="beyond", topic="u", node=successor, records=30),
        v.Heal(as_="mend", fault="alone"),
        v.BrokerActive(as_="returned", node=leader, expect=v.must(target.rule("K631-44", "INT-51", "DLD-16"))),
        v.IsrIs(as_="rejoined", partition="u-0", has=leader, expect=v.must("HW-04")),
        *_old_change(target, leader),
        v.inject("successor-dies", v.KillParameters(nodes=successor)),
        v.LeaderIs(as_="leads-again", partition="u-0", is_=leader, expect=v.must("ISR-06")),
        _knows(target, "known-again", leader),
        v.burst("after", "u", 10),
    ]
    return draft.plan(
        steps,
        v.Acknowledged(by="unsafe", acks=1, after="alone.proven"),
        v.acknowledged(by="beyond", at_least=20),
        *(() if target.leader_driven else ("old-change",)),
        topics=[v.topic([leader, successor], name="u", min_isr=1)],
        workload=READER,
    )


def _session_over(target: v.TargetFacts, leader: str) -> list[v.Step]:
    """Wait until the session ends: with heartbeats leadership moves earlier, while the incarnation is valid."""
    if not target.uses_zookeeper:
        return []
    gone = v.must(target.rule("D631-07", "INT-43", "LD-10"))
    return [v.Registered(as_="session-over", node=leader, is_=False, expect=gone)]


def _knows(target: v.TargetFacts, as_: str, leader: str) -> v.Step:
    return v.learns_leader(as_, leader, "u-0", leader, v.must(target.rule("D631-07", "INT-28", "LD-31")))


def _leads(target: v.TargetFacts, successor: str) -> list[v.Step]:
    """Wait for the ISR: a leader-driven leader serves once it has waited for live replicas and has written the ISR."""
    if not target.leader_driven:
        return []
    return [v.IsrIs(as_="leads", partition="u-0", is_=successor, expect=v.must("LD-53"))]


def _old_change(target: v.TargetFacts, leader: str) -> list[v.Step]:
    """Repeat a control request that the old leader may have sent before the cut, in a design that has one."""
    return [] if target.leader_driven else [_control_request(target, leader)]


def _control_request(target: v.TargetFacts, leader: str) -> v.Step:
    common = {"as": "old-change", "node": "active-controller", "broker": leader, "unchanged": ("u-0", "brokers")}
    if not target.uses_zookeeper:
        expect = target.unless(
            "AK-03", v.answers("D631-20", "error:77", "ISR-04"), v.answers("D631-20", "error:74", "ISR-04")
        )
        epochs = {"broker_epoch": "$old-broker-epoch", "leader_epoch": "$old-leader-epoch"}
        return v.AlterIsrProbe.model_validate({**common, **epochs, "topic": "u", "isr": leader, "expect": expect})
    if target.has_kip_343:
        expect = v.answers("K343-47", "error:1343", "ISR-04")
        epochs = {"incarnation": "$old-broker-epoch", "leader_epoch": "$old-leader-epoch"}
        return v.IsrChangeProbe.model_validate({**common, **epochs, "topic": "u", "isr": leader, "expect": expect})
    expect = v.answers("DINT-24", "error:77")
    return v.ControlledShutdownProbe.model_validate({**common, "broker_epoch": "$old-broker-epoch", "expect": expect})


@v.scenario(
    "sleeping-leader",
    "A leader paused beyond its lease acknowledges nothing that was sent to it meanwhile",
    seconds=9,
    dialects=v.ALL_DESIGNS,
)
def paused(draft: v.Draft) -> v.Plan:
    """Requests wait in the sockets of a paused leader; when it wakes its lease is long over."""
    target = draft.target
    leader = draft.leader
    moved = v.must(target.rule("D631-07", "INT-28", "LD-31"))
    silent = target.rule("K631-32", "K343-18", "DLD-15")
    serves_on = target.unless("AK-04", v.never_serves(silent), v.serves(silent))
    serves_on = target.unless("AZ-01", serves_on, v.serves(silent))
    deadline_ms = v.self_fence_ms(target, draft.timing)
    steps: list[v.Step] = [
        v.inject("deaf", v.StallParameters(from_=leader, to=v.lease_sources(target))),
        v.inject("sleep", v.PauseParameters(nodes=leader)),
        *(
            v.produced_at(
                f"asleep-{number}",
                leader,
                1,
                serves_on,
                background=True,
                timeout_ms=3 * deadline_ms,
                after="sleep.proven",
            )
            for number in (1, 2, 3)
        ),
        v.Hold(as_="lease-over", after="deaf.proven", ms=deadline_ms + 200),
        v.LeaderIs(as_="moved", partition="t-0", is_not=leader, expect=moved),
        v.Heal(as_="wake", fault="sleep"),
        v.Heal(as_="mend", fault="deaf"),
        v.BrokerActive(as_="returned", node=leader, expect=v.must(target.rule("K631-44", "INT-51", "DLD-16"))),
    ]
    return draft.plan(steps, *(f"asleep-{number}" for number in (1, 2, 3)), v.acknowledged("moved.ended"))
