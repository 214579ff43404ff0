"""Many reads in one request (ZooKeeper 3.6 and later), which kazoo lacks: they cost a tenth of single reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from kazoo import exceptions as k
from kazoo.client import KazooClient
from kazoo.protocol.serialization import GetData, MultiHeader, int_struct, read_buffer, read_string, stat_struct
from kazoo.protocol.states import ZnodeStat

_MULTI_READ = 22
_GET_CHILDREN = 8
_ERROR = -1


class MultiRead(ABC):
    """A request in the form that kazoo sends and reads: one answer for each path, None where there is no znode."""

    type = _MULTI_READ
    _kind: int

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths

    def serialize(self) -> bytes:
        request = bytearray()
        for path in self._paths:
            request += MultiHeader(self._kind, False, -1).serialize()
            request += GetData(path, None).serialize()  # both kinds consist of a path, and of no watch
        return bytes(request + MultiHeader(-1, True, -1).serialize())

    @classmethod
    def deserialize(cls, answer: bytes, offset: int) -> list[Any]:
        found: list[Any] = []
        while True:
            header, offset = MultiHeader.deserialize(answer, offset)
            if header.done:
                return found
            if header.type == _ERROR:
                (error,) = int_struct.unpack_from(answer, offset)
                offset += int_struct.size
                if error != k.NoNodeError.code:
                    raise k.EXCEPTIONS[error]
                found.append(None)
            else:
                one, offset = cls._read(answer, offset)
                found.append(one)

    @staticmethod
    @abstractmethod
    def _read(answer: bytes, offset: int) -> tuple[Any, int]:
        """Return one answer, and the offset of the next."""


class MultiGet(MultiRead):
    """`(data, stat)` for each path."""

    _kind = GetData.type

    @staticmethod
    def _read(answer: bytes, offset: int) -> tuple[tuple[bytes, Any], int]:
        data, offset = read_buffer(answer, offset)
        stat = ZnodeStat._make(stat_struct.unpack_from(answer, offset))
        return (data, stat), offset + stat_struct.size


class MultiChildren(MultiRead):
    """The names of the children for each path."""

    _kind = _GET_CHILDREN

    @staticmethod
    def _read(answer: bytes, offset: int) -> tuple[list[str], int]:
        (count,) = int_struct.unpack_from(answer, offset)
        offset += int_struct.size
        names = []
        for _ in range(count):
            name, offset = read_string(answer, offset)
            names.append(name)
        return names, offset


def multi_read(client: KazooClient, kind: type[MultiRead], paths: Sequence[str]) -> Any:
    """Send the request and return kazoo's result. kazoo sends its own operations by this method, which is private."""
    result = client.handler.async_result()
    client._call(kind([client.chroot + path for path in paths]), result)
    return result
