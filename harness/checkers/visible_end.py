"""Visible end: the end of a partition that clients see never goes back (KIP-207).

Two answers of leaders are compared if the second question was asked after the first answer had come, and if it was not
put to an older leader: a deposed leader may know less. Of topics without ids nothing is known once one is deleted, nor
of those that a condition made and deletes.

ListOffsets has the name of a topic only, and the id comes from the metadata that the node had answered before. A broker
may learn of a topic that was created again before its logs are changed, so for `LOGS_FOLLOW` seconds its answer may be
about the log of the deleted topic, and is compared with nothing; nor is one from the request to delete it on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from fencepost.harness.checkers.check import Check, extent
from fencepost.harness.checkers.checker import LossRole, checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.mechanisms import AffectedRange
from fencepost.harness.checkers.topic_lives import Deletion
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

LOGS_FOLLOW = 5.0
"""Seconds from the first answer under a new id of a topic until the node has the new topic's log for certain."""
CHECK = Check("visible-end", "The end that clients see went back", "HW-01", Basis.PRESENCE)


@dataclass(frozen=True, slots=True)
class ShownEnd:
    """The end of a partition that a node showed between `asked` and `answered`."""

    node: str
    at: TopicPartition
    topic_id: str | None
    offset: int
    leader_epoch: int
    asked: float
    answered: float

    @property
    def cells(self) -> tuple[int, str, int, str]:
        return self.offset, self.node, self.leader_epoch, f"{self.answered:.2f} s"


@checker(CHECK, rank=50, every_run=True, loss=LossRole.PART, rests_on=["state:end"])
def visible_end(
    journal: Journal, deletions: Mapping[str, Sequence[Deletion]], affected: Sequence[AffectedRange] = ()
) -> Finding:
    """Judge all ends that the journal has, but for steps back over records that a known mechanism took (`affected`)."""
    highest: dict[tuple[TopicPartition, str | None], ShownEnd] = {}
    wrong: list[tuple[ShownEnd, ShownEnd]] = []
    judged = answers = 0
    for end in _comparable(journal, deletions):
        answers += 1
        before = highest.get((end.at, end.topic_id))
        judged += before is not None
        if before is None or end.offset >= before.offset:
            highest[end.at, end.topic_id] = end
        elif (
            end.asked > before.answered
            and end.leader_epoch >= before.leader_epoch
            and not _known(end, before, affected)
        ):
            wrong.append((before, end))
    if not wrong:
        return CHECK.held(judged, f"No end went back in {answers} answers of leaders.")
    before, end = wrong[0]
    return CHECK.broken(
        judged,
        f"The end of {'-'.join(map(str, end.at))} went back from {before.offset} to {end.offset}: {before.node} had "
        f"shown the first at {before.answered:.2f} s, {end.node} showed the second at {end.answered:.2f} s.",
        ("partition", "end", "shown by", "leader epoch", "at", "then", "shown by", "leader epoch", "at"),
        [("-".join(map(str, b.at)), *a.cells, *b.cells) for a, b in wrong],
        at=end.answered,
        extent=extent((b.at, offset) for b, a in wrong for offset in range(a.offset, b.offset)),
    )


def _comparable(journal: Journal, deletions: Mapping[str, Sequence[Deletion]]) -> Iterator[ShownEnd]:
    """Yield the ends of which it is known which log they are of."""
    removed = {
        event.data["topic"]: event.t
        for event in journal.of("op", "invoke")
        if event.data.get("f") == "admin" and event.data.get("request") == "deleted"
    }
    first_ids: dict[str, str] = {}
    first_shown: dict[tuple[str | None, TopicPartition, str], float] = {}
    for event in journal.of("state"):
        data, id = event.data, event.data.get("topic_id")
        if id is not None and data.get("what") in ("end", "partition"):
            first_ids.setdefault(data["topic"], id)
        if data.get("what") != "end" or data["answered"] >= removed.get(data["topic"], inf):
            continue
        at = data["topic"], data["partition"]
        if any(_is_of_none(data, each) for each in deletions.get(at[0], ())):
            continue
        if id is not None and id != first_ids[at[0]]:
            since = first_shown.setdefault((event.node, at, id), data["answered"])
            if data["asked"] < since + LOGS_FOLLOW:
                continue
        yield ShownEnd(event.node or "", at, id, data["offset"], data["leader_epoch"], data["asked"], data["answered"])


def _is_of_none(end: Mapping[str, Any], deletion: Deletion) -> bool:
    """Return whether the answer may be about a topic that is gone. Some brokers then answer 0, and no error."""
    of_life = end.get("topic_id") is None or end["asked"] <= deletion.back
    return bool(end["answered"] >= deletion.asked and of_life)


def _known(end: ShownEnd, before: ShownEnd, affected: Sequence[AffectedRange]) -> bool:
    """Return whether one range that a mechanism took reaches from the lower end to the higher one."""
    return any(lost.at == end.at and lost.begin <= end.offset and before.offset <= lost.end for lost in affected)
