"""The condition that all running brokers describe the same settings of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fencepost.faults.capabilities import Processes, Running
from fencepost.harness.clients.raw import NoAnswer, NotOffered, RawConnection
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.references import References
from fencepost.harness.network.layout import Listener
from fencepost.harness.wire.versions import DESCRIBE_CONFIGS

ANSWER_SECONDS = 1.0
TOPIC = 2
OF_THE_TOPIC = 1
"""The source of a setting that a topic was given: neither a default nor a setting of brokers."""

Settings = Mapping[str, Mapping[str, str | None]]
"""By topic and key; a topic that the broker does not know is missing."""


@dataclass
class SettingsAgreement:
    """All running brokers that have DescribeConfigs describe the same settings of every topic of the metadata, with the
    values that the plan claims, if it claims any.

    `seen`: the first difference; `found`: what each broker described last, for the journal.
    """

    references: References
    clients: Clients
    processes: Processes
    claimed: Settings
    seen: str = "no broker was asked"
    _described: dict[str, Settings] = field(default_factory=dict)

    def __call__(self) -> bool:
        self._described.clear()
        self.references.check_news()
        topics = sorted({*self.references.now.image.topics.values()} - self.references.plan.prepared_topics)
        for node in self.references.nodes("brokers"):
            if self.processes.status(node).running is not Running.RUNNING:
                continue
            try:
                with self.clients.connect(node, Listener.CLIENT, ANSWER_SECONDS) as line:
                    self._described[node] = describe_topics(line, topics)
            except NotOffered:
                continue
            except NoAnswer as error:
                self.seen = str(error)
                return False
        self.seen = self._difference(topics)
        return not self.seen

    @property
    def found(self) -> Mapping[str, object]:
        return {node: dict(settings) for node, settings in self._described.items()}

    def _difference(self, topics: list[str]) -> str:
        first = next(iter(self._described), "")
        for topic in topics:
            for node in self._described:
                here, there = self._described[node].get(topic), self._described[first].get(topic)
                if here != there:
                    return f"{node} describes the settings of {topic} as {here}, and {first} as {there}"
        return next(self._wrong_values(), "")

    def _wrong_values(self) -> Iterator[str]:
        for topic, values in self.claimed.items():
            if not self._described:
                yield "no broker that runs describes settings"
            for node, described in self._described.items():
                if topic not in described:
                    yield f"{node} describes no topic {topic}"
                    continue
                for key, value in values.items():
                    if (found := described[topic].get(key)) != value:
                        yield f"{node} describes {key} of {topic} as {found!r}, and not as {value!r}"


def describe_topics(line: RawConnection, topics: list[str]) -> Settings:
    """Return the settings that topics were given. Raise NoAnswer, or NotOffered if the node has no such request."""
    named = [{"resource_type": TOPIC, "resource_name": topic, "configuration_keys": None} for topic in topics]
    answer = DESCRIBE_CONFIGS.ask(line, {"resources": named})
    return {
        result.resource_name: {each.name: each.value for each in result.configs if each.config_source == OF_THE_TOPIC}
        for result in answer.results
        if not result.error_code
    }
