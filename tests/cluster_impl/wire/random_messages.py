"""Random messages of any definition and version, for tests that hold the codec against others and itself."""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import UUID

from fencepost.cluster_impl.wire import messages
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.schema import Definition, Field, StructDefinition

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_PRIVATE_CODES = 1000
_CODES = [code for code in Error if 0 <= code < _PRIVATE_CODES]


def message_class(definition: Definition) -> type[Message]:
    cls: type[Message] = getattr(messages, definition.name)
    return cls


def random_message(definition: Definition, version: int, random: Random) -> Message:
    """Every field that the version carries has a random value, all others their default.

    Error codes are known ones and times are plausible, because kio turns them into enums, deltas and dates.
    """
    cls = message_class(definition)

    def build(struct: StructDefinition) -> Any:
        made = cls if struct is definition.root else getattr(cls, struct.name)
        values = {field.attribute: value(field) for field in struct.fields if version in field.versions}
        return made(**values)

    def value(field: Field) -> Any:
        optional = version in field.nullable or (field.struct is not None and not field.is_array and field.tag >= 0)
        if optional and random.random() < 0.3:
            return None
        if field.is_array:
            return [element(field) for _ in range(random.choice((0, 1, 2, 5)))]
        return element(field)

    def element(field: Field) -> Any:
        return build(field.struct) if field.struct else _scalar(field, random)

    built: Message = build(definition.root)
    return built


def _scalar(field: Field, random: Random) -> Any:
    if field.attribute == "error_code":
        return random.choice(_CODES)
    if field.attribute.endswith(("_ms", "timestamp")):
        return random.randrange(2**31)
    if field.type in _BITS:
        bits = _BITS[field.type]
        return random.choice((0, 1, random.getrandbits(bits) - 2 ** (bits - 1)))
    match field.type:
        case "bool":
            return random.random() < 0.5
        case "uint16":
            return random.getrandbits(16)
        case "uuid":
            return UUID(int=random.getrandbits(128))
        case "string":
            return "".join(random.choices("abcäß€𝄞", k=random.choice((0, 3, 50, 200))))
        case "bytes" | "records":
            return random.randbytes(random.choice((0, 3, 126, 127, 128, 20000)))
    raise AssertionError(f"no random value for type {field.type}")
