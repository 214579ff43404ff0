"""The start offsets of share groups: where the administrator set them, until members move them.

Sources: KIP-932; the descriptions of AlterShareGroupOffsets, DeleteShareGroupOffsets, DescribeShareGroupOffsets,
DeleteGroups (KIP-229), ShareGroupHeartbeat, ShareFetch and ShareAcknowledge, and of the requests between nodes about
the state of share groups. A group begins the partitions that it has no offset of once members subscribe to them, and
goes on with those that it has; what it fetches and acknowledges moves them in its own time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fencepost.harness.model.effect import DONE, Deletion, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.kinds.groups import NOT_FOUND
from fencepost.harness.model.kinds.offsets import NONE, group_of, place, topic_of, went_with
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

STATE_TOPIC = "__share_group_state"
ANY = "any"
"""The offset of a partition that members, or nodes in their name, may have moved."""
MOVED_BY = frozenset(
    {"share_fetch", "share_acknowledge", "initialize_share_group_state", "write_share_group_state"}
    | {"delete_share_group_state"}
)


@dataclass(frozen=True)
class _Alteration(Effect):
    offset: int

    @property
    def title(self) -> str:
        return f"set {self.object} to {self.offset}"

    def after(self, state: State) -> State:
        return self.offset


@dataclass(frozen=True)
class _WithItsTopic(Deletion):
    """Offsets of a topic that is deleted go in their own time."""

    lasting: ClassVar[bool] = True


@dataclass(frozen=True)
class _Use(Effect):
    """Members fetch and acknowledge, or a node writes what they did. Those that only subscribe begin partitions."""

    subscribes: bool

    @property
    def title(self) -> str:
        return f"{'subscribe to' if self.subscribes else 'move'} {self.object}"

    def after(self, state: State) -> State:
        return state if self.subscribes and state is not None else ANY


class ShareOffsets(Kind):
    """A share group starts where it was set to start, until its offsets, their topic or the group are deleted."""

    name = "share group offsets"
    requirement = "MDL-17"
    changed_by = MOVED_BY | {
        "alter_share_group_offsets",
        "delete_share_group_offsets",
        "delete_groups",
        "delete_topics",
        "share_group_heartbeat",
    }
    begins_absent = True

    def questions(self, scope: Scope) -> Iterator[Question]:
        for group in sorted({group_of(each) for each in scope.objects}):
            named = [each for each in scope.objects if group_of(each) == group]
            yield Question("describe_share_group_offsets", {"groups": [{"group_id": group, "topics": None}]}, named)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Only the coordinator of a group says anything about it."""
        [described] = answer["groups"]
        partitions = [(topic["topic_name"], each) for topic in described["topics"] for each in topic["partitions"]]
        if described["error_code"] == NOT_FOUND:
            return {}
        if described["error_code"] or any(each["error_code"] for _, each in partitions):
            return None
        group = described["group_id"]
        return {place(group, topic, each["partition_index"]): each["start_offset"] for topic, each in partitions}

    def state(self, seen: Any) -> State:
        return int(seen)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """An offset of -1 is the same as none."""
        if state in (seen, ANY) or {state, seen} <= {None, NONE}:
            yield state

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        of_group = [each for each in objects if group_of(each) == sent.body.get("group_id")]
        refused = sent.response.get("error_code", DONE) if sent.response else DONE
        match sent.api:
            case "alter_share_group_offsets":
                codes = {
                    (topic["topic_name"], each["partition_index"]): each["error_code"]
                    for topic in results(sent.response, "responses")
                    for each in topic["partitions"]
                }
                for topic in sent.body["topics"]:
                    for each in topic["partitions"]:
                        at = topic["topic_name"], each["partition_index"]
                        yield _Alteration(
                            place(sent.body["group_id"], *at), refused or codes.get(at), each["start_offset"]
                        )
            case "delete_share_group_offsets":
                answers = {each["topic_name"]: each["error_code"] for each in results(sent.response, "responses")}
                for topic in [each["topic_name"] for each in sent.body["topics"]]:
                    code = refused or answers.get(topic)
                    yield from (Deletion(each, code) for each in of_group if topic_of(each) == topic)
            case "delete_groups":
                answers = {each["group_id"]: each["error_code"] for each in results(sent.response, "results")}
                for group in sent.body["groups_names"]:
                    yield from (Deletion(each, answers.get(group)) for each in objects if group_of(each) == group)
            case "delete_topics":
                yield from (_WithItsTopic(each, DONE) for each in objects if went_with(sent, each, STATE_TOPIC))
            case _:
                subscribes = sent.api == "share_group_heartbeat"
                yield from (_Use(each, DONE, subscribes) for each in of_group)
