"""Writes `messages.pyi`: `python -m fencepost.cluster_impl.wire.stubs`. A test holds it against the definitions."""

from __future__ import annotations

from pathlib import Path

from fencepost.cluster_impl.wire.messages import DEFINITIONS
from fencepost.cluster_impl.wire.schema import Definition, Field, StructDefinition

PATH = Path(__file__).with_name("messages.pyi")

_HEADER = """# Written by `python -m fencepost.cluster_impl.wire.stubs` from definitions/*.json. Do not edit.
from uuid import UUID

from fencepost.cluster_impl.wire.codec import Buffer, Message, RequestMessage, Tags
from fencepost.cluster_impl.wire.codec import Struct as _Struct
from fencepost.cluster_impl.wire.schema import Definition

DEFINITIONS: list[Definition]
"""

_TYPES = {"bool": "bool", "float64": "float", "uuid": "UUID", "string": "str", "bytes": "bytes", "records": "Buffer"}


def render() -> str:
    return _HEADER + "".join(_message(definition) for definition in DEFINITIONS)


def _message(definition: Definition) -> str:
    response = definition.name.removesuffix("Request") + "Response"
    base = f"RequestMessage[{response}]" if definition.kind == "request" else "Message"
    lines = ["", f"class {definition.name}({base}):"]
    for struct in definition.structs:
        lines.append(f"    class {struct.name}(_Struct):")
        lines += ["        " + line for line in _body(struct, definition)]
        lines.append("")
    lines += ["    " + line for line in _body(definition.root, definition)]
    return "\n".join(lines) + "\n"


def _body(struct: StructDefinition, definition: Definition) -> list[str]:
    fields = [f"{field.attribute}: {_type(field, definition)}" for field in struct.fields]
    parameters = ["self", "*", *(f"{field} = ..." for field in fields), "unknown_tags: Tags = ..."]
    return [*fields, "def __init__(", *(f"    {parameter}," for parameter in parameters), ") -> None: ..."]


def _type(field: Field, definition: Definition) -> str:
    name = f"{definition.name}.{field.struct.name}" if field.struct else _TYPES.get(field.type, "int")
    untagged_struct = field.struct is not None and not field.is_array and field.tag < 0
    nullable = field.nullable.high >= 0 or (field.default is None and not untagged_struct)
    return (f"list[{name}]" if field.is_array else name) + (" | None" if nullable else "")


if __name__ == "__main__":
    PATH.write_text(render(), "utf-8")
