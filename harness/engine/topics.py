"""Topics that are created during a scenario, by requests to one node, and those that brokers list at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from kio.schema.errors import ErrorCode

from fencepost.faults.capabilities import Running
from fencepost.harness.clients.asking import ask_controller, ask_metadata
from fencepost.harness.clients.raw import NoAnswer, RawConnection
from fencepost.harness.engine.context import Clients, Context
from fencepost.harness.engine.references import References
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.requests.create_topic import create_topic

CREATE_WITHIN = 1.0
"""Seconds for one attempt to create a topic, or to change one."""


def list_topics(context: Context, names: Collection[str]) -> None:
    """Ask each running broker for these topics, and journal their ids and numbers of partitions (`op`, f `topics`)."""
    for node in context.references.nodes_now("brokers"):
        if context.cluster.processes.status(node).running is not Running.RUNNING:
            continue
        op, data = f"topics-{node}", {"process": "topics", "f": "topics"}
        context.journal.write("op", op, "invoke", data, node=node)
        try:
            with context.clients.connect(node, Listener.CLIENT, CREATE_WITHIN) as connection:
                partitions = ask_metadata(connection, sorted(names)).partitions.values()
        except NoAnswer as error:
            context.journal.write("op", op, "info", data | {"error": str(error)}, node=node)
            continue
        numbers = Counter((each.topic, each.topic_id) for each in partitions)
        topics = [[*topic, number] for topic, number in sorted(numbers.items())]
        context.journal.write("op", op, "ok", data | {"topics": topics}, node=node)


@dataclass
class TopicCreation:
    """The condition that a topic is created through a broker, as the broker's clients do it.

    A broker that does not forward the request names the controller instead. Each evaluation is one attempt.
    """

    node: str
    topic: str
    references: References
    clients: Clients
    attempts: int = 0
    last: str = "without an answer"
    _message: str = ""

    def __call__(self) -> bool:
        self.attempts += 1
        try:
            node, error = send_change(self.node, self._create, self.clients, self.references)
            self.last = f"{node} answered {error.name}{self._message}"
        except NoAnswer as error_of_connection:
            self.last = f"{self.node} gave no answer: {error_of_connection}"
            return False
        return error in (ErrorCode.none, ErrorCode.topic_already_exists)

    @property
    def seen(self) -> str:
        """Return the last answer, and what the controllers say of themselves."""
        views = self.references.now.controllers.items()
        said = (f"{name} names {view.leader} at epoch {view.epoch}" for name, view in views if view.leader >= 0)
        active = f"of the controllers {', '.join(said) or 'none names a leader'}"
        return f"{self.topic} was asked for {self.attempts} times, at last {self.last}; {active}"

    def _create(self, connection: RawConnection) -> ErrorCode:
        timeout_ms = int(CREATE_WITHIN * 1000)
        error, text = create_topic(connection, self.topic, partitions=1, replicas=1, timeout_ms=timeout_ms)
        self._message = f": {text}" if text else ""
        return error


def send_change(
    node: str, request: Callable[[RawConnection], ErrorCode], clients: Clients, references: References
) -> tuple[str, ErrorCode]:
    """Send a change as the clients of a broker do: one that does not forward it names the controller instead.

    Return the node that was asked at last, and its error. Raise NoAnswer without an answer.
    """
    with clients.connect(node, Listener.CLIENT, CREATE_WITHIN) as connection:
        error = request(connection)
        if error is not ErrorCode.not_controller:
            return node, error
        controller = broker_with(ask_controller(connection), references)
    if controller is None:
        return node, error
    with clients.connect(controller, Listener.CLIENT, CREATE_WITHIN) as connection:
        return controller, request(connection)


def broker_with(id: int, references: References) -> str | None:
    """Return the name of the broker with an id, None if there is none now."""
    brokers = references.nodes_now("brokers")
    return next((broker for broker in brokers if references.plan.node(broker).id == id), None)
