"""Python source of one version of a message: a function for each struct, to encode it or to decode it."""

from __future__ import annotations

from typing import ClassVar

from fencepost.cluster_impl.wire.schema import Definition, Field, StructDefinition


def default_expression(field: Field) -> str:
    """Return the source of a field's default, as an argument of a generated constructor."""
    if field.default is None:
        return "None"
    if field.is_array:
        return "EMPTY"
    if field.type == "uuid":
        return "ZERO_UUID"
    return repr(field.default.encode() if field.type == "bytes" and isinstance(field.default, str) else field.default)


class Source:
    """Lines of source, each labelled with the field that it deals with ("" for none)."""

    verb: ClassVar[str]

    def __init__(self, definition: Definition, version: int) -> None:
        self.version = version
        self.flexible = version in definition.flexible
        self.labels: list[str] = []
        self._lines: list[str] = []
        self._label = ""
        self._depth = 0
        for struct in (*definition.structs, definition.root):
            self._function(struct)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def _function(self, struct: StructDefinition) -> None:
        raise NotImplementedError

    def _emit(self, line: str, depth: int = 0) -> None:
        self._lines.append("    " * (self._depth + depth) + line)
        self.labels.append(self._label)

    def _carries(self, field: Field) -> bool:
        return self.version in field.versions

    def _in_tags(self, field: Field) -> bool:
        return self.flexible and field.tag >= 0 and self.version in field.tagged
