"""DeleteTopics: written down under /admin/delete_topics, and answered when the topics are gone, or the time is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from cluster_impl.coordination.steps import Create, Steps, run
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.context import ControllerContext
from cluster_impl.designs.zk_controller.controller.refusals import not_controller
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error

DeleteResult = m.DeleteTopicsResponse.DeletableTopicResult

NO_TOPIC_ID = UUID(int=0)
FIRST_VERSION_WITH_IDS = 6


@dataclass(slots=True)
class _Waiting:
    """A request that is not answered yet: what is known of its topics, and what it waits for, by place."""

    request: m.DeleteTopicsRequest
    reply: Callable[[Message], None]
    deadline: float
    results: dict[int, DeleteResult] = field(default_factory=dict)
    pending: dict[int, tuple[str, UUID]] = field(default_factory=dict)


class TopicDeletions:
    """The requests, not the deletions themselves. `enabled` is delete.topic.enable."""

    def __init__(self, context: ControllerContext, *, enabled: bool) -> None:
        self._context = context
        self._enabled = enabled
        self._waiting: list[_Waiting] = []

    def ask(
        self, request: m.DeleteTopicsRequest, version: int, reply: Callable[[Message], None], now: float
    ) -> Steps[None]:
        """Write down which topics are to be deleted. `settle` answers."""
        waiting = _Waiting(request, reply, now + request.timeout_ms / 1000)
        self._waiting.append(waiting)
        if version >= FIRST_VERSION_WITH_IDS:
            asked = [(topic.name, topic.topic_id) for topic in request.topics]
        else:
            asked = [(name, NO_TOPIC_ID) for name in request.topic_names]
        wanted: list[str] = []
        for at, (name, topic_id) in enumerate(asked):
            found = self._find(name, topic_id)
            if isinstance(found, DeleteResult):
                waiting.results[at] = found
            elif found in wanted:
                sentence = "The request names this topic more than once."
                waiting.results[at] = _result(name, topic_id, Error.INVALID_REQUEST, sentence)
            else:
                wanted.append(found)
                waiting.pending[at] = (found, self._context.topic_ids[found])
        new = [topic for topic in wanted if topic not in self._context.to_delete]
        yield from run([Create(znodes.topic_to_delete(topic)) for topic in new])
        self._context.to_delete.update(dict.fromkeys(new))

    def settle(self, now: float | None = None) -> None:
        """Answer the requests whose topics are all gone, and those whose time is over at `now`."""
        for waiting in list(self._waiting):
            gone = [at for at, (name, id) in waiting.pending.items() if self._context.topic_ids.get(name) != id]
            for at in gone:
                name, topic_id = waiting.pending.pop(at)
                waiting.results[at] = DeleteResult(name=name, topic_id=topic_id)
            is_over = now is not None and now >= waiting.deadline
            if waiting.pending and not is_over:
                continue
            for at, (name, topic_id) in waiting.pending.items():
                sentence = "The topic is still being deleted."
                waiting.results[at] = _result(name, topic_id, Error.REQUEST_TIMED_OUT, sentence)
            self._waiting.remove(waiting)
            waiting.reply(m.DeleteTopicsResponse(responses=[waiting.results[at] for at in sorted(waiting.results)]))

    def next_deadline(self) -> float | None:
        return min((waiting.deadline for waiting in self._waiting), default=None)

    def resign(self) -> None:
        """Another controller goes on with the deletions; who asked must ask that one."""
        for waiting in self._waiting:
            waiting.reply(not_controller(waiting.request))
        self._waiting.clear()

    def _find(self, name: str | None, topic_id: UUID) -> str | DeleteResult:
        """The name of the topic that is meant, or why it cannot be deleted."""
        if not self._enabled:
            return _result(name, topic_id, Error.TOPIC_DELETION_DISABLED, "Topics cannot be deleted here.")
        if name is not None:
            if topic_id != NO_TOPIC_ID:
                sentence = "A topic is named by its name or by its id, not by both."
                return _result(name, topic_id, Error.INVALID_REQUEST, sentence)
            if name not in self._context.topic_ids:
                return _result(name, topic_id, Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
            return name
        found = self._context.topic_name(topic_id)
        if found is None:
            return _result(name, topic_id, Error.UNKNOWN_TOPIC_ID, f"There is no topic with the id {topic_id}.")
        return found


def _result(name: str | None, topic_id: UUID, error: Error, sentence: str) -> DeleteResult:
    return DeleteResult(name=name, topic_id=topic_id, error_code=error, error_message=sentence)
