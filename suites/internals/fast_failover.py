"""Leadership moves between two live replicas before either has compared its log with the other's (KIP-279)."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

BEFORE, LONGER, SHORTER = 20, 10, 4
"""Records that both replicas have; that the second alone appends as leader; that the first then does."""
LAG_MS = 20_000
"""Long enough that the stalls of this scenario drop no replica from the ISR."""


@v.internals_scenario(
    "fast-failover",
    "A replica cuts what no other has, also if leadership moved twice before the logs were compared",
    seconds=20,
)
def build(draft: v.Draft) -> v.Plan:
    """Both replicas append records that the other lacks, at the same offsets and in different leader terms.

    The second one leads again, and knows nothing of the first one's last term. The first has to cut all records of that
    term, although the second's log is longer than that.
    """
    first, second, _ = draft.roles
    steps: list[v.Step] = [
        v.burst("before", "u", BEFORE),
        v.inject("bounce", v.KillParameters(nodes=first)),
        _leads("moved", second, "INT-28"),
        v.Heal(as_="restart", fault="bounce"),
        v.IsrIs(as_="rejoined", partition="u-0", has=first, expect=v.must("ISR-06")),
        v.Bind(as_="before-election", value="leader-epoch:u-0"),
        v.inject("unread", v.StallParameters(from_=first, to=second)),
        v.Produce(as_="longer", topic="u", node=second, acks=1, records=LONGER),
        v.inject("unasked", v.StallParameters(from_=second, to=first)),
        v.elect_preferred("prefer", "u-0"),
        _leads("preferred", first, "INT-39"),
        v.learns_leader("known", first, "u-0", first, v.must("INT-22")),
        v.Bind(as_="elected", value="leader-epoch:u-0"),
        _epoch_ends("noted", first, "$elected"),
        v.ReplicaFetchProbe(
            as_="behind",
            node=first,
            topic="u",
            broker=second,
            leader_epoch="$before-election",
            unchanged=("u-0",),
            expect=v.answers("HW-07", "error:74"),
        ),
        v.Produce(as_="shorter", topic="u", node=first, acks=1, records=SHORTER),
        v.inject("dies", v.KillParameters(nodes=first)),
        _leads("leads-again", second, "INT-28"),
        v.Heal(as_="read", fault="unread"),
        v.Heal(as_="asked", fault="unasked"),
        v.Heal(as_="back", fault="dies"),
        v.IsrIs(as_="cut", partition="u-0", has=first, expect=v.must("HW-04")),
    ]
    return draft.timed(lag_ms=LAG_MS).plan(
        steps,
        v.Acknowledged(by="longer", acks=1, at_least=LONGER, after="unread.proven"),
        v.Acknowledged(by="shorter", acks=1, at_least=SHORTER, after="unasked.proven"),
        "cut",
        v.acknowledged(by="afterwards", at_least=10),
        topics=[v.topic([first, second], name="u", min_isr=1)],
        workload=None,
        afterwards=[v.burst("afterwards", "u", 10)],
    )


def _leads(as_: str, broker: str, requirement: str) -> v.Step:
    return v.LeaderIs(as_=as_, partition="u-0", is_=broker, expect=v.must(requirement))


def _epoch_ends(as_: str, leader: str, epoch: str) -> v.Step:
    """Ask a leader that has written nothing yet where its own epoch ends: at the end of its log (KIP-320)."""
    partition = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": epoch}
    body = {"replica_id": -1, "topics": [{"topic": "u", "partitions": [partition]}]}
    answer = {"topics[0].partitions[0].end_offset": BEFORE}
    return v.ask(as_, leader, "offset_for_leader_epoch", body, v.serves("HW-07"), version=3, answer=answer)
