"""DeleteTopics: recorded under /admin/delete_topics, and answered when the topics are gone or the time is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from fencepost.cluster_impl.coordination.steps import Create, Steps, run
from fencepost.cluster_impl.designs.shared.topic_requests import (
    DeleteResult,
    RequestError,
    not_deleted,
    requested_deletions,
    topics_to_delete,
    unknown_topic,
)
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.refusals import not_controller
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error


@dataclass(slots=True)
class _PendingDeletion:
    """A request without a response: the known results and the pending topics, by their place in the request."""

    request: m.DeleteTopicsRequest
    reply: Callable[[Message], None]
    deadline: float
    results: dict[int, DeleteResult] = field(default_factory=dict)
    pending: dict[int, tuple[str, UUID]] = field(default_factory=dict)


class DeleteTopicsRequests:
    """Pending DeleteTopics requests; `TopicDeletion` deletes the topics. `enabled` is delete.topic.enable."""

    def __init__(self, context: ControllerContext, *, enabled: bool) -> None:
        self._context = context
        self._enabled = enabled
        self._waiting: list[_PendingDeletion] = []

    def ask(
        self, request: m.DeleteTopicsRequest, version: int, reply: Callable[[Message], None], now: float
    ) -> Steps[None]:
        """Record the topics to delete. `settle` answers the request."""
        waiting = _PendingDeletion(request, reply, now + request.timeout_ms / 1000)
        self._waiting.append(waiting)
        wanted: list[str] = []
        requested = requested_deletions(request, version)
        meant = topics_to_delete(requested, self._context.topic_name)
        for at, ((name, topic_id), topic) in enumerate(zip(requested, meant, strict=True)):
            try:
                found = self._existing(topic)
            except RequestError as error:
                waiting.results[at] = not_deleted(name, topic_id, error)
                continue
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
                error = RequestError(Error.REQUEST_TIMED_OUT, "The topic is still being deleted.")
                waiting.results[at] = not_deleted(name, topic_id, error)
            self._waiting.remove(waiting)
            waiting.reply(m.DeleteTopicsResponse(responses=[waiting.results[at] for at in sorted(waiting.results)]))

    def next_deadline(self) -> float | None:
        return min((waiting.deadline for waiting in self._waiting), default=None)

    def resign(self) -> None:
        """Refuse the pending requests, as another controller continues the deletions."""
        for waiting in self._waiting:
            waiting.reply(not_controller(waiting.request))
        self._waiting.clear()

    def _existing(self, topic: str | RequestError) -> str:
        """Return the name of the topic that is meant. Raise RequestError if it cannot be deleted."""
        if not self._enabled:
            raise RequestError(Error.TOPIC_DELETION_DISABLED, "Topics cannot be deleted here.")
        if isinstance(topic, RequestError):
            raise topic
        if topic not in self._context.topic_ids:
            raise unknown_topic(topic)
        return topic
