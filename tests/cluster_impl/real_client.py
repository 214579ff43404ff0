"""A real client of three brokers around ZooKeeper, for tests that break them."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # re-exported
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.cluster_impl.processes import BROKERS, LIMIT, address
from tests.waiting import eventually


def bootstrap(*nodes: int) -> str:
    return ",".join(f"{address(node)}:9092" for node in nodes or BROKERS)


def create(name: str, at: str, partitions: int = 1) -> None:
    topic = NewTopic(name, partitions, 3, config={"min.insync.replicas": "2"})
    admin = AdminClient({"bootstrap.servers": at, "log_level": 0})
    admin.create_topics([topic], request_timeout=LIMIT)[name].result(LIMIT)


def is_created(name: str, at: str) -> bool:
    """Try to create a topic, and return whether it is there: one of the brokers may not be back yet."""
    try:
        create(name, at)
    except KafkaException as error:
        return bool(error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS)
    return True


def delete(name: str, at: str) -> None:
    """Repeat a request whose broker lost its session on the way, as its answer says: the next attempt continues."""
    admin = AdminClient(
        {"bootstrap.servers": at, "log_level": 0}
    )  # without a name of its own it ends before the answer comes
    in_doubt = False
    while True:
        try:
            admin.delete_topics([name], request_timeout=LIMIT)[name].result(LIMIT)
            return
        except KafkaException as error:
            code = error.args[0].code()
            if code == KafkaError.UNKNOWN_TOPIC_OR_PART and in_doubt:
                return
            if code != KafkaError.REQUEST_TIMED_OUT or in_doubt:
                raise
            in_doubt = True


class Producing:
    """An idempotent client with acks=all; `failed` are the errors of its deliveries."""

    def __init__(self, topic: str, at: str) -> None:
        self.topic = topic
        self.failed: list[object] = []
        self.sent: list[str] = []
        self._producer = Producer(
            {
                "bootstrap.servers": at,
                "acks": "all",
                "enable.idempotence": True,
                "log_level": 0,  # a broker that a test has ended is no news
                "topic.metadata.refresh.interval.ms": 500,
                "socket.timeout.ms": 3000,
            }
        )

    def send(self, count: int = 100) -> None:
        for _ in range(count):
            value = str(len(self.sent))
            self.sent.append(value)
            self._producer.produce(self.topic, value, on_delivery=self._delivered)
            self._producer.poll(0)

    def flush(self) -> None:
        assert self._producer.flush(LIMIT) == 0
        assert self.failed == []

    def _delivered(self, error: object, _: object) -> None:
        if error:
            self.failed.append(error)


def consume(at: str, topic: str, count: int) -> list[str]:
    """The records as they came, each place in the log once: a group whose coordinator changes reads some again."""
    consumer = Consumer(
        {"bootstrap.servers": at, "group.id": f"read-{topic}", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe([topic])
    values: dict[tuple[int | None, int | None], str] = {}

    def all_read() -> bool:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            values[message.partition(), message.offset()] = (message.value() or b"").decode()
        return len(values) >= count

    eventually(all_read, f"{count} records of {topic}")
    consumer.close()
    return list(values.values())


def alter(bootstrap: str, kind: ResourceType, name: str, setting: str, value: str) -> None:
    entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(kind, name, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    [done] = admin.incremental_alter_configs([resource]).values()
    done.result(LIMIT)


def described(bootstrap: str, kind: ResourceType, name: str, setting: str) -> tuple[str, int]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    [found] = admin.describe_configs([ConfigResource(kind, name)]).values()
    entry = found.result(LIMIT)[setting]
    return entry.value, entry.source


def refuses_a_record_of_300_bytes(bootstrap: str, topic: str) -> bool:
    try:
        producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "log_level": 0})
        failed: list[object] = []
        producer.produce(topic, "x" * 300, on_delivery=lambda error, _: failed.append(error) if error else None)
        producer.flush(LIMIT)
    except KafkaException as error:
        failed.append(error)
    return bool(failed)
