"""A table of configuration keys: a frozen dataclass whose fields are keys of the property file.

    @dataclass(frozen=True, kw_only=True)
    class SessionConfig(Table):
        timeout: float = key("session.timeout.ms", milliseconds, "How long a session lives.", default="18000")

A default is written as a file would write it. A key without a default is required; an optional key without a default is
None. A field that is itself a table is declared with `subtable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Generic, Literal, Self, TypeVar, overload

T = TypeVar("T")


class ConfigError(Exception):
    """A configuration with which no node can run. The message names the key and says what to change."""


@dataclass(frozen=True, slots=True)
class ValueType(Generic[T]):
    """The type of a key's value: its unit or form, as `--help` shows it, and its parser.

    `parse` raises ValueError; the error's text continues a message that begins with the key, as in
    `broker.id=x must be a whole number`.
    """

    form: str
    parse: Callable[[str], T]


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    type: ValueType[Any]
    document: str
    default: str | None = None
    is_required: bool = True

    def parse(self, text: str) -> Any:
        """Raise ConfigError for a text that is no value of this key."""
        try:
            return self.type.parse(text.strip())
        except ValueError as error:
            raise ConfigError(f"{self.name}={text} {error}.") from None

    def value(self, properties: Mapping[str, str]) -> Any:
        """Return the typed value, from the file or the default. Raises ConfigError."""
        text = properties.get(self.name, self.default)
        if text is not None:
            return self.parse(text)
        if self.is_required:
            raise ConfigError(f"the key {self.name} is missing: {self.document}")
        return None

    def help(self) -> str:
        note = f"default {self.default}" if self.default else "required" if self.is_required else "optional"
        return f"  {self.name} ({self.type.form}, {note})\n      {self.document}"


@overload
def key(name: str, type: ValueType[T], document: str, *, default: str | None = None) -> T: ...
@overload
def key(name: str, type: ValueType[T], document: str, *, optional: Literal[True]) -> T | None: ...
def key(name: str, type: ValueType[Any], document: str, *, default: str | None = None, optional: bool = False) -> Any:
    """Declare a field of a table. The field's own default is the parsed default of the key."""
    key = Key(name, type, document, default, is_required=default is None and not optional)
    if key.is_required:
        return field(metadata={"key": key})
    return field(default_factory=lambda: key.value({}), metadata={"key": key})


def subtable(table: type[TableT]) -> TableT:
    """Declare a field of a table that is a table itself."""
    has_defaults = all(not key.is_required for key in table.all_keys())
    made: Any = field(default_factory=table if has_defaults else MISSING, metadata={"table": table})
    return made  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Table:
    @classmethod
    def all_keys(cls) -> Iterator[Key]:
        """Yield all keys of this table, those of its subtables included."""
        for member in fields(cls):
            if "key" in member.metadata:
                yield member.metadata["key"]
            elif "table" in member.metadata:
                yield from member.metadata["table"].all_keys()

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Fill the table from the keys and values of a property file. Raises ConfigError."""
        values: dict[str, Any] = {}
        for member in fields(cls):
            if "key" in member.metadata:
                values[member.name] = member.metadata["key"].value(properties)
            elif "table" in member.metadata:
                values[member.name] = member.metadata["table"].from_properties(properties)
        filled = cls(**values)
        filled.check()
        return filled

    def check(self) -> None:
        """Raise ConfigError where the values of several keys contradict each other."""


TableT = TypeVar("TableT", bound=Table)
