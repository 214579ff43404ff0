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
    """Send each batch of a producer on two connections at once, as a client does that gave the first one up.

    At the end there are as many records as batches: none is there twice, and none was taken for a repetition.
    """
    steps: list[v.Step] = [v.producer_id_given(draft.leader, v.serves("CRD-05"))]
    for sequence in range(BATCHES):
        steps += [
            _batch(f"early-{sequence}", sequence, background=True),
            _batch(f"late-{sequence}", sequence),
        ]
    answer = {f"{v.LISTED}.offset": BATCHES}
    end = v.listed("end", LEADER, TOPIC, v.END, version=2, epoch=None, answer=answer, expect=v.serves("CRD-06"))
    topics = [v.promised_topic(draft.target, draft.roles), v.promised_topic(draft.target, draft.roles, name=TOPIC)]
    return draft.plan([*steps, end], "whole", topics=topics)


def _batch(as_: str, sequence: int, *, background: bool = False) -> v.ApiProbe:
    """Produce the batch of one record with this sequence number; that it is there already is an answer, too."""
    producer = {"producer_id": "$id", "producer_epoch": EPOCH, "base_sequence": sequence}
    records = [{"value": f"r-{sequence}"}]
    return v.produced(
        as_,
        LEADER,
        TOPIC,
        records,
        producer=producer,
        background=background,
        expect=v.never_answers("CRD-06", OUT_OF_ORDER),
    )
