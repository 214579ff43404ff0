"""The settings of a node as its property file gives them, for answers to clients (DescribeConfigs)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fencepost.cluster_impl.config.table import Table


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the property file. `given` is its text there, None if the file does not have it."""

    name: str
    given: str | None
    default: str | None
    form: str
    document: str

    @property
    def value(self) -> str | None:
        """Return the text that holds for the node; None for an optional key without a value."""
        return self.default if self.given is None else self.given


def settings_of(table: type[Table], properties: Mapping[str, str]) -> Iterator[Setting]:
    """Yield all keys of a table. Login modules, which hold passwords, are no keys of a table."""
    for key in table.all_keys():
        yield Setting(key.name, properties.get(key.name), key.default, key.type.form, key.document)
