"""A batch of an idempotent producer that arrives twice."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

TOPIC = "twice"
LEADER = f"leader:{TOPIC}-0"
BATCHES = 20
EPOCH = 0
OUT_OF_ORDER = "error:45"


@v.any_scenario(
    "any-two-connections", "A batch that arrives on two connections is written once, and the next one too", seconds=15
)
def two_connections(draft: v.Draft) -> v.Plan:
    """Send each batch of a producer on two connections at once, as a client does that gave the first one up."""
    return _twice(draft, LEADER)


@v.any_scenario(
    "any-two-front-ends",
    "A batch that arrives at two front ends is written once, and the next one too",
    seconds=15,
    front_ends=True,
)
def two_front_ends(draft: v.Draft) -> v.Plan:
    """Send each batch of a producer to two front ends at once, as a client does whose first one went silent."""
    return _twice(draft, v.front_end(draft.leader, 2))


def _twice(draft: v.Draft, other: str) -> v.Plan:
    """Send each batch to the leader and to `other` at once.

    At the end there are as many records as batches: none is there twice, and none was taken for a repetition.
    """
    steps: list[v.Step] = [v.producer_id_given(draft.leader, v.serves("CRD-05"))]
    for sequence in range(BATCHES):
        steps += [
            _batch(f"early-{sequence}", LEADER, sequence, background=True),
            _batch(f"late-{sequence}", other, sequence),
        ]
    answer = {f"{v.LISTED}.offset": BATCHES}
    end = v.listed("end", LEADER, TOPIC, v.END, version=2, epoch=None, answer=answer, expect=v.serves("CRD-06"))
    topics = [v.promised_topic(draft.target, draft.roles), v.promised_topic(draft.target, draft.roles, name=TOPIC)]
    return draft.plan([*steps, end], "whole", topics=topics)


def _batch(as_: str, node: str, sequence: int, *, background: bool = False) -> v.ApiProbe:
    """Produce the batch of one record with this sequence number; that it is there already is an answer, too."""
    producer = {"producer_id": "$id", "producer_epoch": EPOCH, "base_sequence": sequence}
    records = [{"value": f"r-{sequence}"}]
    return v.produced(
        as_,
        node,
        TOPIC,
        records,
        producer=producer,
        background=background,
        expect=v.never_answers("CRD-06", OUT_OF_ORDER),
    )
