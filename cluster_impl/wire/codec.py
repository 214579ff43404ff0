"""The base of compiled messages: classes, the errors of the codec, and variable-length integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, TypeVar
from uuid import UUID

Buffer = bytes | bytearray | memoryview
Tags = dict[int, bytes]
Put = Callable[[Buffer], object]

NO_TAGS: Any = MappingProxyType({})
"""The `unknown_tags` of a message without any; shared, so it refuses writes."""

EMPTY: Any = object()
"""Stands for "a new empty list" among the default arguments of generated constructors."""

_UVARINT_MAX_BYTES = 5


class Malformed(ValueError):
    """Bytes that are not what they should be. The text names the message, the version and the field."""


class Unencodable(ValueError):
    """A value that the chosen version of a message cannot carry. The text names message, version and field."""


class UnsupportedVersion(ValueError):
    """A version outside the range that a message is defined for."""


class Struct:
    """A compiled struct: attributes are the fields in snake_case, all with defaults.

    `unknown_tags` keeps tagged fields that the definition does not know, by tag; they are encoded again.
    """

    __slots__ = ("unknown_tags",)

    unknown_tags: Tags
    _fields: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in (*self._fields, "unknown_tags"))

    __hash__ = None  # type: ignore[assignment]  # messages are mutable, so they must not be keys

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_brief(getattr(self, name))}" for name in self._fields)
        return f"{type(self).__qualname__}({values})"


class Message(Struct):
    """A request, a response, a metadata record, or a piece of data with versions of its own."""

    __slots__ = ()

    API_KEY: ClassVar[int]
    """The API key; for a metadata record its type; -1 for plain data."""
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int]
    """The first version with compact types and tagged fields; above MAX_VERSION if there is none."""

    _codec: ClassVar[Codec]

    def parts(self, version: int) -> list[Buffer]:
        """Return the encoding in pieces, so that large record sets need not be copied. Raises Unencodable."""
        pieces: list[Buffer] = []
        self._codec.encode(self, version, pieces.append)
        return pieces

    def encode(self, version: int) -> bytes:
        return b"".join(self.parts(version))

    @classmethod
    def decode(cls, buffer: Buffer, version: int, offset: int = 0, *, exactly: bool = True) -> Self:
        """Decode from `offset` on, if `exactly` to the end of the buffer. Raises Malformed.

        `records` fields become views of the buffer, so a change of the buffer changes them.
        """
        message: Self = cls._codec.decode(buffer, version, offset, exactly)
        return message


R = TypeVar("R", bound=Message)


class RequestMessage(Message, Generic[R]):
    """A request; R is its response."""

    __slots__ = ()


class Codec:
    """The interface between `Message` and the compiler, which subclasses it."""

    def encode(self, message: Message, version: int, put: Put) -> None:
        raise NotImplementedError

    def decode(self, buffer: Buffer, version: int, offset: int, exactly: bool) -> Any:
        raise NotImplementedError


def _brief(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > 32:
        return f"<{len(value)} bytes>"
    return repr(bytes(value)) if isinstance(value, memoryview) else repr(value)


def _encode_uvarint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


_SHORT_UVARINTS = tuple(_encode_uvarint(value) for value in range(4096))


def uvarint(value: int) -> bytes:
    """Return an unsigned variable-length integer (KIP-482)."""
    return _SHORT_UVARINTS[value] if value < 4096 else _encode_uvarint(value)


def uvarint_rest(buffer: Buffer, position: int, first: int) -> tuple[int, int]:
    """Return the rest of a uvarint whose first byte has its high bit set: (value, position after it)."""
    value = first & 127
    for shift in range(7, 7 * _UVARINT_MAX_BYTES, 7):
        byte = buffer[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >= 1 << 32:
                raise Malformed("a variable-length integer does not fit 32 bits")
            return value, position
    raise Malformed(f"a variable-length integer is longer than {_UVARINT_MAX_BYTES} bytes")


def read_uvarint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Return (value, position after it). Raises IndexError at the end of the buffer."""
    first = buffer[position]
    return (first, position + 1) if first < 128 else uvarint_rest(buffer, position + 1, first)


def put_tags(put: Put, tags: Iterable[tuple[int, bytes]]) -> None:
    """Write a section of tagged fields (KIP-482), in ascending order of tags as it demands."""
    ordered = sorted(tags)
    put(uvarint(len(ordered)))
    for tag, value in ordered:
        put(uvarint(tag) + uvarint(len(value)))
        put(value)


def read_tags(buffer: Buffer, position: int, end: int, count: int) -> tuple[dict[int, tuple[int, int]], int]:
    """Return the places of `count` tagged fields: tag -> (start, end), and the position after them."""
    places: dict[int, tuple[int, int]] = {}
    previous = -1
    for _ in range(count):
        tag, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        if tag <= previous:
            raise Malformed(f"tag {tag} follows tag {previous}; tags must ascend")
        if size > end - position:
            raise Malformed(f"tag {tag} claims {size} bytes, {end - position} are left")
        places[tag] = (position, position + size)
        position += size
        previous = tag
    return places, position


@lru_cache(maxsize=1024)
def uuid_of(raw: bytes) -> UUID:
    """Return a UUID from a cache: the objects are expensive to make, and topic ids are in every request."""
    return UUID(bytes=raw)


def unsigned16(value: int) -> int:
    """Return a port that a draft message carries as int16, as the number that was meant."""
    return value & 0xFFFF


def signed16(value: int) -> int:
    """Return the reverse of `unsigned16`: the int16 that stands for a port above 32767."""
    return value - 0x10000 if value > 0x7FFF else value
