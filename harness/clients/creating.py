"""Creates the topics of a plan, by request or by use."""

from __future__ import annotations

import time
from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.plan.model import TopicSpec
from fencepost.results.records.journal import JournalWriter

ASK_SECONDS = 5.0
ASK_AGAIN_SECONDS = 0.2


class TopicCreation:
    """Creates topics through an administrator's client, and journals each creation.

    `assigns`: the brokers take the assignments of the plan; without, topics have as many partitions and replicas.
    `by_use`: topics come into being when a client asks for them, with as many partitions as the brokers give them.
    """

    def __init__(self, admin: AdminClient, journal: JournalWriter, *, assigns: bool, by_use: bool) -> None:
        self._admin = admin
        self._journal = journal
        self._assigns = assigns
        self._by_use = by_use

    def create(self, topics: Iterable[TopicSpec], timeout: float) -> None:
        """Create those that are not prepared, in `timeout` seconds each. Raise InfrastructureError."""
        for spec in topics:
            if spec.prepared:
                continue
            op = f"create-{spec.name}"
            base = {"process": "admin", "f": "admin", "request": "create-topic", "topic": spec.name}
            self._journal.write("op", op, "invoke", base)
            try:
                if self._by_use:
                    self._use(spec.name, time.monotonic() + timeout)
                else:
                    self._request(spec, timeout)
            except KafkaException as error:
                cause: KafkaError = error.args[0]
                if cause.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    self._journal.write("op", op, "info", base | {"error": cause.name()})
                    raise InfrastructureError(f"the topic {spec.name} could not be created: {cause.str()}") from error
            self._journal.write("op", op, "ok", base)

    def _request(self, spec: TopicSpec, timeout: float) -> None:
        created = self._admin.create_topics([self._new(spec)], operation_timeout=timeout, request_timeout=timeout)
        created[spec.name].result()

    def _new(self, spec: TopicSpec) -> NewTopic:
        if self._assigns:
            assignments = [list(replicas) for replicas in spec.assignments]
            return NewTopic(spec.name, len(assignments), replica_assignment=assignments, config=spec.config)
        return NewTopic(spec.name, len(spec.assignments), len(spec.assignments[0]), config=spec.config)

    def _use(self, topic: str, deadline: float) -> None:
        """Ask for a topic until it is there. Raise KafkaException if it is not by the deadline."""
        while (found := self._admin.list_topics(topic, ASK_SECONDS).topics[topic]).error or not found.partitions:
            if time.monotonic() > deadline:
                raise KafkaException(found.error or KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
            time.sleep(ASK_AGAIN_SECONDS)
