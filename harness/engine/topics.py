"""Topics that are created during a scenario, by requests to one node, and those that brokers list at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from kio.schema.errors import ErrorCode

from fencepost.faults.capabilities import Running
from fencepost.harness.clients.asking import ask_controller, ask_metadata
from fencepost.harness.clients.raw import NoAnswer
from fencepost.harness.engine.context import Clients, Context
from fencepost.harness.engine.references import References
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.requests.create_topic import create_topic

CREATE_WITHIN = 1.0
"""Seconds for one attempt to create a topic."""


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

    def __call__(self) -> bool:
        self.attempts += 1
        try:
            error, controller = self._create(self.node)
            if error is ErrorCode.not_controller and controller is not None:
                error, _ = self._create(controller)
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

    def _create(self, node: str) -> tuple[ErrorCode, str | None]:
        """Return the node's error, and the controller that it names if it is none itself."""
        with self.clients.connect(node, Listener.CLIENT, CREATE_WITHIN) as connection:
            error, text = create_topic(
                connection, self.topic, partitions=1, replicas=1, timeout_ms=int(CREATE_WITHIN * 1000)
            )
            self.last = f"{node} answered {error.name}" + (f": {text}" if text else "")
            if error is not ErrorCode.not_controller:
                return error, None
            named = ask_controller(connection)
        brokers = self.references.nodes_now("brokers")
        return error, next((each for each in brokers if self.references.plan.node(each).id == named), None)
