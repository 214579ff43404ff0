"""Records that the plan itself had deleted: below the start that DeleteRecords moved, or by the topic's retention.

They are not lost although no consumer read them. A start that moved otherwise explains nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History
from fencepost.harness.plan.model import Plan
from fencepost.results.records.journal import Journal

_API = "delete_records"
_LIMITS = ("retention.ms", "retention.bytes")


def deleted_before(plan: Plan, journal: Journal, history: History) -> Mapping[TopicPartition, int]:
    """Return the offset below which the plan had records deleted, by partition. Linear in the journal."""
    starts: dict[TopicPartition, int] = {}
    for at, low_watermark in _answered(journal):
        starts[at] = max(low_watermark, starts.get(at, 0))
    limited = {topic.name for topic in plan.topics if any(_is_limited(topic.config.get(name)) for name in _LIMITS)}
    for at, read in history.final.items():
        if at[0] in limited:
            starts[at] = max(read.start, starts.get(at, 0))
    return starts


def _is_limited(value: str | None) -> bool:
    return value is not None and not value.startswith("-")


def _answered(journal: Journal) -> Iterator[tuple[TopicPartition, int]]:
    """Yield the low watermarks in the responses to DeleteRecords."""
    for event in journal.of("op"):
        body: Any = event.data.get("body")
        if isinstance(body, Mapping) and body.get("api") == _API and isinstance(body.get("response"), Mapping):
            for topic in body["response"].get("topics", ()):
                for partition in topic.get("partitions", ()):
                    if not partition.get("error_code"):
                        yield (topic["name"], partition["partition_index"]), partition["low_watermark"]
