"""Log directories: each broker has a log for each partition that is assigned to it, and for no other.

The logs are held against the assignments of the same look, so that a broker has time for what a deletion or a move asks
of its disk. A broker with a directory that failed says nothing.

Sources: KIP-113; the descriptions of DescribeLogDirs and Metadata; KAFKA-14127 and KAFKA-16297 (strays).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from fencepost.harness.model.kind import OfOneLook, Question, Scope
from fencepost.harness.model.kinds.assignments import Assignments
from fencepost.harness.model.kinds.topics import INTERNAL
from fencepost.harness.model.sent import Description

_METADATA = ("__cluster_metadata", "__kafka_metadata")


class LogDirs(OfOneLook):
    """A broker has the logs of the partitions that are assigned to it, and no strays."""

    name = "log directories"
    requirement = "MDL-16"
    of_each_node = True
    of_replicas = True

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("describe_log_dirs", {"topics": None}, [f"broker {scope.node_id}"])

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        directories = answer["results"]
        if answer.get("error_code") or question.scope is None or any(each["error_code"] for each in directories):
            return None
        logs = {
            f"{topic['name']}-{partition['partition_index']}"
            for directory in directories
            for topic in directory["topics"]
            if topic["name"] not in (*INTERNAL, *_METADATA)
            for partition in topic["partitions"]
            if not partition["is_future_key"]
        }
        return {question.scope[0]: sorted(logs)}

    def contradictions(self, descriptions: Sequence[Description]) -> Iterator[tuple[Description, str, str, str]]:
        """Yield each log that no broker describes as assigned there, and each assigned one that is not there."""
        assigned: dict[str, list[Collection[int]]] = defaultdict(list)
        lists = [each for each in descriptions if each.kind == Assignments.name and each.scope is None]
        for each in lists:
            for partition, replicas in each.objects.items():
                assigned[partition].append(replicas)
        for description in descriptions if lists else ():
            if description.kind != self.name:
                continue
            for name, logs in description.objects.items():
                id = int(name.removeprefix("broker "))
                for partition in sorted(set(logs) | set(assigned)):
                    holders = assigned.get(partition, [])
                    if partition in logs and not any(id in replicas for replicas in holders):
                        where = f"on {', '.join(map(str, holders[0]))}" if holders else "nowhere"
                        yield description, name, f"having a log of {partition}", f"{partition} {where}"
                    elif partition not in logs and len(holders) == len(lists) and all(id in each for each in holders):
                        yield description, name, f"having no log of {partition}", f"{partition} assigned to it"
