"""Records that the plan itself had deleted: below the start that DeleteRecords moved, or by the topic's retention.

They are not lost, whether a consumer had read them or not. A start that moved otherwise explains nothing: neither more
than a request asked for, nor a retention that is longer than the run. Where nodes have clocks of their own, every
retention may be over, that of a topic without one as well. On a shared cluster other clients may have deleted any.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.results.records.journal import Journal

_API = "delete_records"
_FOR_EVER = "-1"
_MS = {"retention.ms": 1, "retention.minutes": 60_000, "retention.hours": 3_600_000}
"""The settings of a retention in time, of a topic and, after `log.`, of brokers; each with its unit in milliseconds."""
_BYTES = "retention.bytes"
_TOPIC = 2
"""The type of a topic among the resources whose settings are changed."""


def deleted_before(
    plan: Plan, journal: Journal, history: History, settings: Mapping[str, str] | None = None
) -> Mapping[TopicPartition, int]:
    """Return the offset below which the plan had records deleted, by partition. Linear in the journal.

    `settings` are those of the target file for brokers.
    """
    starts: dict[TopicPartition, int] = {}
    for at, start in _requested(plan, journal):
        starts[at] = max(start, starts.get(at, 0))
    for at, read in history.final.items():
        if plan.shared or _may_expire(plan, at[0], settings or {}, journal.duration * 1000):
            starts[at] = max(read.start, starts.get(at, 0))
    return {at: start for at, start in starts.items() if start > 0}


def _may_expire(plan: Plan, topic: str, settings: Mapping[str, str], run_ms: float) -> bool:
    """Return whether a retention that the topic had at any time can have ended within the run."""
    times, limited = [], False
    for name, value in _limits(plan, topic, settings):
        key = name.removeprefix("log.")
        if key in _MS and value.lstrip("-").isdigit():
            times.append(int(value) * _MS[key])
        limited |= key == _BYTES and not value.startswith("-")
    if any(node.clock == "own" for node in plan.topology.nodes):
        return limited or not times or any(each >= 0 for each in times)
    return limited or any(0 <= each < run_ms for each in times)


def _limits(plan: Plan, topic: str, settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that the topic had or inherited at any time, with their values."""
    yield from settings.items()
    if plan.settings is not None:
        yield from plan.settings.of(controller=True, broker=True).items()
    for node in plan.topology.nodes:
        yield from ((name, value) for name, value in node.settings.items() if value is not None)
    for each in plan.topics:
        if each.name == topic:
            yield from each.config.items()
    for step in plan.steps:
        if isinstance(step, ApiProbe):
            yield from _changed(step.body, topic)


def _changed(body: Mapping[str, Any], topic: str) -> Iterator[tuple[str, str]]:
    """Yield what a request sets for the topic or for brokers. A name that a step bound may be any."""
    for resource in (*(body.get("resources") or ()), *(body.get("topics") or ())):
        name = str(resource.get("resource_name", resource.get("name", "")))
        if resource.get("resource_type", _TOPIC) != _TOPIC or name == topic or name.startswith("$"):
            for each in resource.get("configs") or ():
                yield str(each.get("name")), str(each.get("value") or _FOR_EVER)


def _requested(plan: Plan, journal: Journal) -> Iterator[tuple[TopicPartition, int]]:
    """Yield the low watermarks in the responses to DeleteRecords, but none beyond what was asked for."""
    steps = {plan.step_name(place): step for place, step in enumerate(plan.steps)}
    asked: dict[str, object] = {}
    for event in journal.of("op"):
        if event.phase == "invoke":
            asked[str(event.id)] = steps.get(event.data.get("step", ""))
            continue
        body: Any = event.data.get("body")
        if isinstance(body, Mapping) and body.get("api") == _API and isinstance(body.get("response"), Mapping):
            for topic in body["response"].get("topics", ()):
                for partition in topic.get("partitions", ()):
                    if not partition.get("error_code"):
                        at, low = (topic["name"], partition["partition_index"]), partition["low_watermark"]
                        limit = _asked_offset(asked.get(str(event.id)), at)
                        yield at, low if limit is None else min(low, limit)


def _asked_offset(step: object, at: TopicPartition) -> int | None:
    """Return the offset that a request named; None if that is the end, was bound by a step, or is not known."""
    for topic in (step.body.get("topics") or ()) if isinstance(step, ApiProbe) else ():
        for partition in topic.get("partitions") or ():
            offset = partition.get("offset")
            if (topic.get("name"), partition.get("partition_index")) == at and isinstance(offset, int) and offset >= 0:
                return offset
    return None
