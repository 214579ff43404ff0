"""The settings that requests gave to topics, brokers and groups: the dynamic ones, with their sources.

Sources: the descriptions of IncrementalAlterConfigs (KIP-339), AlterConfigs and DescribeConfigs (KIP-133, KIP-226);
KIP-848 and KIP-932 (settings of groups, which need not be there).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fencepost.harness.model.effect import Deletion, Effect, Validation
from fencepost.harness.model.kind import Kind, Question, Scope, asked_to_delete, is_described, results
from fencepost.harness.model.kinds.topics import EXISTS, INTERNAL, UNKNOWN
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

TOPIC, BROKER, GROUP = 2, 4, 32
"""Types of resources."""
SET, DELETE, APPEND, SUBTRACT = range(4)
"""Operations of IncrementalAlterConfigs."""
VERBS = {SET: "set", DELETE: "unset", APPEND: "append to", SUBTRACT: "take from"}
"""The operations in words. Any other one is a mistake, and changes nothing."""
OF_TOPIC, OF_BROKER, OF_ALL_BROKERS, OF_GROUP = 1, 2, 3, 8
"""Sources of settings in DescribeConfigs."""
ALL_BROKERS = "all brokers"
ANY = "\0any"
"""A value that is not known: a list that was appended to a default, or one that is never shown."""

Settings = frozenset[tuple[str, str]]
Change = tuple[str, int, str | None]
"""Name, operation and value."""


@dataclass(frozen=True)
class Alteration(Effect):
    """Changes of single settings, all or none of them; `whole`: what is not named loses its value."""

    changes: tuple[Change, ...]
    whole: bool = False

    @property
    def title(self) -> str:
        words = (
            f"{VERBS.get(operation, f'apply operation {operation} to')} {name}" + (f" {value}" if value else "")
            for name, operation, value in self.changes
        )
        return f"{'replace all settings' if self.whole else 'alter'} of {self.object}: {', '.join(words)}"

    def refusals(self, state: State) -> frozenset[int]:
        return frozenset({UNKNOWN}) if state is None else frozenset()

    def after(self, state: State) -> State:
        settings = {} if self.whole else dict(_settings(state))
        for name, operation, value in self.changes:
            if operation not in VERBS:
                continue
            if operation == SET and value is not None:
                settings[name] = _canonical(value)
            elif operation == DELETE or value is None:
                settings.pop(name, None)
            elif name in settings and settings[name] != ANY:
                parts = settings[name].split(",") if settings[name] else []
                words = _canonical(value).split(",")
                kept = parts if operation == APPEND else [part for part in parts if part not in words]
                settings[name] = ",".join(kept + [word for word in words if operation == APPEND and word not in kept])
            else:
                settings[name] = ANY
        return frozenset(settings.items())


@dataclass(frozen=True)
class _Creation(Effect):
    settings: Settings

    @property
    def title(self) -> str:
        return f"create {self.object} with {_words(self.settings)}"

    def refusals(self, state: State) -> frozenset[int]:
        return frozenset() if state is None else frozenset({EXISTS})

    def after(self, state: State) -> State:
        return self.settings


class _OfResources(Kind):
    """Settings of one type of resources."""

    resource_type: ClassVar[int]
    source: ClassVar[int]

    @abstractmethod
    def object_of(self, resource: str) -> str:
        """Return the object of a resource."""

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the settings by their sources. One with another value than its first source says is listed, too."""
        if not is_described(answer["results"]):
            return None
        seen: dict[str, dict[str, str]] = {}
        for result in answer["results"]:
            if result["error_code"]:
                continue
            for object, source in self._sources(result["resource_name"]):
                settings = seen.setdefault(object, {})
                for setting in result["configs"]:
                    settings |= _from(source, setting)
        return seen

    def _sources(self, resource: str) -> Iterator[tuple[str, int]]:
        """Yield the objects that the description of a resource tells of, each with the source of its settings."""
        yield self.object_of(resource), self.source

    def state(self, seen: Any) -> State:
        return frozenset(seen.items())

    def fits(self, state: State, seen: State) -> Iterator[State]:
        if state is None or seen is None:
            yield from super().fits(state, seen)
            return
        known, shown = dict(_settings(state)), dict(_settings(seen))
        if known.keys() == shown.keys() and all(known[key] in (ANY, shown[key]) or shown[key] == ANY for key in known):
            yield frozenset({key: shown[key] if known[key] == ANY else known[key] for key in known}.items())

    def says(self, state: State) -> str:
        return "absent" if state is None else _words(_settings(state))

    def _alterations(self, sent: Sent) -> Iterator[Effect]:
        answers = results(sent.response, "responses")
        codes = {(answer["resource_type"], answer["resource_name"]): answer["error_code"] for answer in answers}
        for resource in sent.body["resources"]:
            if resource["resource_type"] != self.resource_type:
                continue
            name = resource["resource_name"]
            whole = sent.api == "alter_configs"
            changes = tuple(
                (each["name"], SET if whole else each["config_operation"], each["value"])
                for each in resource["configs"]
            )
            code = codes.get((self.resource_type, name)) if sent.response is not None else None
            effect = Alteration(self.object_of(name), code, changes, whole)
            yield Validation(effect.object, code, effect) if sent.body.get("validate_only") else effect


class TopicSettings(_OfResources):
    """A topic has the settings that it was created with and given since, and no others."""

    name = "topic settings"
    in_znodes = True
    forwarded = True
    requirement = "MDL-03"
    changed_by = frozenset({"create_topics", "delete_topics", "incremental_alter_configs", "alter_configs"})
    resource_type, source = TOPIC, OF_TOPIC

    def object_of(self, resource: str) -> str:
        return resource

    def questions(self, scope: Scope) -> Iterator[Question]:
        topics = [topic for topic in scope.topics if topic not in INTERNAL]
        if topics:
            yield Question("describe_configs", _asking([(TOPIC, topic) for topic in topics]), topics)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        answers = results(sent.response, "topics", "responses")
        codes = {answer.get("name"): answer["error_code"] for answer in answers}
        validates = bool(sent.body.get("validate_only"))
        match sent.api:
            case "create_topics":
                for topic in sent.body["topics"]:
                    given = {
                        each["name"]: _canonical(each["value"])
                        for each in topic["configs"]
                        if each["value"] is not None
                    }
                    effect = _Creation(topic["name"], codes.get(topic["name"]), frozenset(given.items()))
                    yield Validation(effect.object, effect.code, effect) if validates else effect
            case "delete_topics":
                for name, id in asked_to_delete(sent):
                    if name is not None:
                        yield Deletion(name, codes.get(name))
                    else:
                        named = [answer["name"] for answer in answers if answer.get("topic_id") == id]
                        known = [name for name in named if name is not None]
                        yield from (Deletion(name, codes.get(name) if known else None) for name in known or objects)
            case _:
                yield from self._alterations(sent)


class BrokerSettings(_OfResources):
    """A broker has the dynamic settings that it was given; so have all brokers those of all."""

    name = "broker settings"
    in_znodes = True
    forwarded = True
    requirement = "MDL-04"
    changed_by = frozenset({"incremental_alter_configs", "alter_configs"})
    absent: ClassVar[State] = frozenset()
    resource_type, source = BROKER, OF_BROKER
    of_each_node = True

    def object_of(self, resource: str) -> str:
        return f"broker {resource}" if resource else ALL_BROKERS

    def _sources(self, resource: str) -> Iterator[tuple[str, int]]:
        if resource:
            yield self.object_of(resource), OF_BROKER
        yield ALL_BROKERS, OF_ALL_BROKERS

    def questions(self, scope: Scope) -> Iterator[Question]:
        for resource in ("", str(scope.node_id)):
            objects = [object for object, _ in self._sources(resource)]
            yield Question("describe_configs", _asking([(BROKER, resource)]), objects)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        yield from self._alterations(sent)


class GroupSettings(_OfResources):
    """A group has the settings that it was given, whether it is there or not."""

    name = "group settings"
    forwarded = True
    requirement = "MDL-18"
    changed_by = frozenset({"incremental_alter_configs", "alter_configs"})
    absent: ClassVar[State] = frozenset()
    begins_absent = True
    resource_type, source = GROUP, OF_GROUP

    def object_of(self, resource: str) -> str:
        return resource

    def questions(self, scope: Scope) -> Iterator[Question]:
        if scope.objects:
            yield Question("describe_configs", _asking([(GROUP, each) for each in scope.objects]), scope.objects)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        yield from self._alterations(sent)


def _asking(resources: Sequence[tuple[int, str]]) -> Mapping[str, Any]:
    asked = [{"resource_type": type, "resource_name": name, "configuration_keys": None} for type, name in resources]
    return {"resources": asked, "include_synonyms": True, "include_documentation": False}


def _from(source: int, setting: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the value that a setting has from a source, by its name there; none if it has none from it."""
    values = {each["source"]: each for each in setting.get("synonyms") or ()}
    if setting.get("config_source") not in values:  # an answer without synonyms
        values[setting.get("config_source")] = {"name": setting["name"], "value": setting["value"]}
    if source not in values:
        return {}
    given = values[source]
    hidden = setting.get("is_sensitive")
    shown = {given["name"]: ANY if hidden else _canonical(given["value"] or "")}
    if setting.get("config_source") == source and given["value"] != setting["value"] and not hidden:
        shown[f"{setting['name']} in effect"] = str(setting["value"])
    return shown


def _settings(state: State) -> Settings:
    assert isinstance(state, frozenset)
    return state


def _canonical(value: str) -> str:
    """Return a value as brokers describe it: lists without blanks."""
    return ",".join(part.strip() for part in value.split(","))


def _words(settings: Settings) -> str:
    return ", ".join(f"{name}={'?' if value == ANY else value}" for name, value in sorted(settings)) or "no settings"
