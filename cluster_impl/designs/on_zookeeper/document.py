"""A strict reader of the JSON objects in znodes: a member of another type raises an error that names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.cluster_impl.replication.control_plane import TopicPartition


class MalformedZnode(ValueError):
    """A znode whose data cannot be read; the message names the path and the problem."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} cannot be read: {problem}.")


@dataclass(frozen=True, slots=True)
class Document:
    """The `members` of the JSON object in the znode at `path`. Its methods raise MalformedZnode."""

    path: str
    members: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, path: str, data: bytes, *versions: int) -> Document:
        """Read an object. If `versions` are given its member `version` must be one of them."""
        try:
            raw = json.loads(data)
        except ValueError as error:
            raise MalformedZnode(path, f"it holds no JSON ({error})") from error
        if not isinstance(raw, dict):
            raise MalformedZnode(path, "it holds no JSON object")
        document = cls(path, raw)
        if versions and document.number("version") not in versions:
            known = " or ".join(map(str, versions))
            raise MalformedZnode(path, f"its version is {raw['version']}, and only {known} is known here")
        return document

    def number(self, name: str, default: int | None = None) -> int:
        """Return an integer. Kafka writes some as strings: timestamps, producer ids, the cluster id's version."""
        value = self.members.get(name, default)
        if isinstance(value, str):
            try:
                return int(value)
            except ValueError:
                value = None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name, "a whole number")
        return value

    def text(self, name: str) -> str:
        value = self.members.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a string, or None if the member is missing or null."""
        return None if self.members.get(name) is None else self.text(name)

    def numbers(self, name: str) -> tuple[int, ...]:
        return self.as_numbers(name, self.members.get(name))

    def as_numbers(self, name: str, value: Any) -> tuple[int, ...]:
        if not isinstance(value, list) or not all(type(element) is int for element in value):
            raise self._wrong(name, "a list of whole numbers")
        return tuple(value)

    def texts(self, name: str) -> list[str]:
        value = self.members.get(name)
        if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
            raise self._wrong(name, "a list of strings")
        return value

    def endpoints(self, name: str) -> list[tuple[str, str, int]]:
        """Return listener, host and port of each text LISTENER://HOST:PORT."""
        result = []
        for text in self.texts(name):
            listener, separator, address = text.partition("://")
            host, colon, port = address.rpartition(":")
            if not (separator and colon and port.isdecimal()):
                raise MalformedZnode(self.path, f"{text!r} is not an endpoint LISTENER://HOST:PORT")
            result.append((listener, host, int(port)))
        return result

    def mapping(self, name: str, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        value = self.members.get(name, default)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return value

    def by_partition(self, name: str, default: Mapping[str, Any] | None = None) -> dict[int, tuple[int, ...]]:
        result = {}
        for key, value in self.mapping(name, default).items():
            if not key.isdecimal():
                raise self._wrong(name, "an object by partition number")
            result[int(key)] = self.as_numbers(name, value)
        return result

    def documents(self, name: str) -> list[Document]:
        value = self.members.get(name)
        if not isinstance(value, list) or not all(isinstance(element, dict) for element in value):
            raise self._wrong(name, "a list of objects")
        return [Document(self.path, element) for element in value]

    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.text("topic"), self.number("partition"))

    def _wrong(self, name: str, wanted: str) -> MalformedZnode:
        if name not in self.members:
            return MalformedZnode(self.path, f"the member {name} is missing")
        return MalformedZnode(self.path, f"its member {name} is {self.members[name]!r}, not {wanted}")
