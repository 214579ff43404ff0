"""Replicas agree: each member of the last ISR holds, in its own files, what the final read was given.

What was served to a consumer is below the high watermark, so every member of the ISR must have it; what replicas hold
beyond that may differ. Checkpointed high watermarks are not used: they are stale after kill -9.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.checkers.check import Check
from harness.checkers.control import TopicPartition
from harness.checkers.history import History, value_of
from harness.checkers.segments import Unreadable, read_log
from harness.plan.model import Plan
from results.records.verdict import Basis, Finding

CHECK = Check("replicas-agree", "A member of the ISR lacks a record that was served", "HW-03", Basis.ABSENCE)


def replicas_agree(plan: Plan, history: History, nodes: Path) -> Finding:
    """`nodes` holds a folder for each node. Linear in the logs. Logs that cannot be read are named, not judged."""
    judged = 0
    rows: list[tuple[Any, ...]] = []
    unreadable: list[str] = []
    for at, served in sorted(history.final.items()):
        for member in _last_isr(history, at):
            try:
                logs = _logs(plan, member, at, nodes)
            except Unreadable as error:
                unreadable.append(str(error))
                continue
            if not logs:
                continue
            judged += len(served.values)
            lacking = [list(_lacks(at, node, log, served.values)) for node, log in logs.items()]
            fewest = min(lacking, key=len)
            rows += fewest
    if rows:
        topic_partition, node, offset = rows[0][:3]
        sentence = f"{len(rows)} records that were served are not in the log of a member of the ISR; the first: "
        return CHECK.broken(
            judged,
            sentence + f"{topic_partition} offset {offset} on {node}.",
            ("partition", "node", "offset", "served", "in its log"),
            rows,
            at=None,
            unreadable=unreadable,
        )
    return CHECK.held(
        judged, f"Members of the ISR hold all of {judged} served records in their files.", unreadable=unreadable
    )


def _last_isr(history: History, at: TopicPartition) -> Sequence[int]:
    views = history.views.of(at)
    return views[-1].isr if views else ()


def _logs(plan: Plan, member: int, at: TopicPartition, nodes: Path) -> Mapping[str, dict[int, str]]:
    """The logs of every process that ran under this id, in each of its log directories: which of them was the member,
    their files do not say.

    A directory that failed and still stands aside is none of them: what it held is lost to the node.
    """
    topic, number = at
    logs = {}
    for node in plan.topology.nodes:
        for name in log_dirs(node.log_dirs):
            folder = nodes / node.name / name / f"{topic}-{number}"
            if node.id == member and "broker" in node.roles and folder.is_dir():
                logs[f"{node.name}/{name}"] = {record.offset: value_of(record.value) for record in read_log(folder)}
    return logs


def log_dirs(count: int) -> tuple[str, ...]:
    """The names of a node's log directories: `data`, `data-2`, `data-3`…"""
    return ("data", *(f"data-{number}" for number in range(2, count + 1)))


def _lacks(
    at: TopicPartition, node: str, log: Mapping[int, str], served: Mapping[int, str]
) -> Iterator[tuple[Any, ...]]:
    topic, number = at
    for offset, value in served.items():
        if log.get(offset) != value:
            yield f"{topic}-{number}", node, offset, value, log.get(offset, "absent")
