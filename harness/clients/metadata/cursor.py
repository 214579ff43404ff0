"""Reads Kafka's primitive types one after the other, and skips unknown tagged fields."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from typing import TypeVar

Item = TypeVar("Item")


class Cursor:
    """Over the payload of one record. `flexible`: compact lengths and tagged fields (KIP-482). IndexError or
    struct.error past the end."""

    def __init__(self, buffer: bytes, *, flexible: bool) -> None:
        self._buffer = buffer
        self._at = 0
        self.flexible = flexible

    def int8(self) -> int:
        return self._number(">b")

    def int16(self) -> int:
        return self._number(">h")

    def int32(self) -> int:
        return self._number(">i")

    def int64(self) -> int:
        return self._number(">q")

    def boolean(self) -> bool:
        return self.int8() != 0

    def uvarint(self) -> int:
        value = shift = 0
        while True:
            byte = self._buffer[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def uuid(self) -> uuid.UUID:
        return uuid.UUID(bytes=self._take(16))

    def string(self) -> str | None:
        size = self.uvarint() - 1 if self.flexible else self.int16()
        return None if size < 0 else self._take(size).decode()

    def array(self, item: Callable[[], Item]) -> list[Item]:
        """A null array reads as an empty one."""
        size = self.uvarint() - 1 if self.flexible else self.int32()
        return [item() for _ in range(size)]

    def tags(self) -> dict[int, bytes]:
        """The tagged fields that follow, unread; none in messages that are not flexible."""
        if not self.flexible:
            return {}
        return {self.uvarint(): self._take(self.uvarint()) for _ in range(self.uvarint())}

    def rest(self) -> bytes:
        return self._buffer[self._at :]

    def _take(self, size: int) -> bytes:
        taken = self._buffer[self._at : self._at + size]
        if len(taken) < size:
            raise IndexError(f"{size} bytes wanted at {self._at}, {len(taken)} left")
        self._at += size
        return taken

    def _number(self, form: str) -> int:
        number: int
        (number,) = struct.unpack_from(form, self._buffer, self._at)
        self._at += struct.calcsize(form)
        return number
