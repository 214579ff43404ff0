"""Phantom: a record that was read, and that no client sent to that partition.

Every send to a topic of the workload is in the journal before the client has it. What steps produce by requests of
their own choice is not, so their topics are left out. A record that was sent to another partition is one here, too.
"""

from collections.abc import Iterator

from fencepost.harness.checkers.check import Check, extent, named_places
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.history import History, Read
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.produce import Produce
from fencepost.results.records.verdict import Basis, Finding

CHECK = Check("phantom", "A record was read that was not sent there", "ACK-08", Basis.ABSENCE)


def topics_of_known_senders(plan: Plan) -> frozenset[str]:
    """Return the topics whose every sender is in the journal."""
    if plan.shared:
        return frozenset()
    sent = {producer.topic for producer in plan.workload.producers}
    sent |= {step.topic for step in plan.steps if isinstance(step, Produce)}
    return frozenset(sent - set(_requested(plan)))


def _requested(plan: Plan) -> Iterator[str]:
    """Yield the topics that requests of steps name; all if a name was bound by a step."""
    for step in plan.steps:
        if isinstance(step, ApiProbe) and step.api == "produce":
            for topic in step.body.get("topic_data") or step.body.get("topics") or ():
                name = str(topic.get("name", "$"))
                yield from (each.name for each in plan.topics) if name.startswith("$") else (name,)


@checker(CHECK, rank=23, every_run=True, rests_on=["op:send"])
def phantom(history: History) -> Finding:
    """Judge all records that consumers and the final read got. Linear in sends and reads."""
    sent = {send.value: (_name(send.topic), send.partition) for send in history.sends}
    judged = [Read(*read) for read in history.first_reads if _name(read[0][0]) in history.known_senders]
    wrong = [read for read in judged if not _was_sent(sent.get(read.value), read)]
    if not wrong:
        return CHECK.held(len(judged), f"Each of {len(judged)} records read had been sent to its partition.")
    places = [(read.at, read.offset) for read in wrong]
    count = f"{len(wrong)} record{'s'[: len(wrong) != 1]} ({named_places(places)})"
    return CHECK.broken(
        len(judged),
        f"{count} {'was' if len(wrong) == 1 else 'were'} read, and not sent there.",
        ("partition", "offset", "record", "sent to", "seen", "by"),
        [
            (
                f"{read.at[0]}-{read.at[1]}",
                read.offset,
                read.value,
                "{}-{}".format(*sent[read.value]) if read.value in sent else "nowhere",
                f"{history.first_reads[read].t:.2f} s",
                history.first_reads[read].process,
            )
            for read in wrong
        ],
        at=min(history.first_reads[read].t for read in wrong),
        extent=extent(places),
    )


def _was_sent(to: tuple[str, int | None] | None, read: Read) -> bool:
    return to is not None and to[0] == _name(read.at[0]) and to[1] in (None, read.at[1])


def _name(topic: str) -> str:
    """Return the name of a topic without that of its life (`topic_lives`)."""
    return topic.partition(" (deleted at ")[0]
