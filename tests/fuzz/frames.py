"""Frames that no client sends: each kind breaks a valid request, or its length, in another way."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from enum import StrEnum
from random import Random

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.framing import encode_request
from fencepost.cluster_impl.wire.registry import Api, Registry
from tests.cluster_impl.wire.random_messages import random_message

REQUESTS = {definition.name: definition for definition in m.DEFINITIONS if definition.kind == "request"}

BELIEVED = frozenset(
    {
        # Between nodes: without permissions a node believes each sender that names a newer epoch.
        *("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown", "MetadataHeartbeat", "IsrChange"),
        *("ReplicaStateEvent", "Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "BrokerHeartbeat", "ControllerHeartbeat"),
        *("AlterIsr", "AddRaftVoter", "RemoveRaftVoter"),
        # Administration: a valid request is carried out.
        *("CreateTopics", "CreatePartitions", "AlterPartitionReassignments", "AlterConfigs", "IncrementalAlterConfigs"),
        *("CreateAcls", "UpdateFeatures"),
    }
)
"""The requests that are broken beyond reading: a flipped bit in another place would be a valid order."""


class Kind(StrEnum):
    BITS = "flipped bits"
    CUT = "an end that is missing"
    LENGTH = "a length that is wrong"
    RUBBISH = "a valid header with rubbish behind it"
    HUGE = "an array that claims to be huge"
    TAGS = "tagged fields that claim to be many or large"
    UNKNOWN = "an unknown API or version"
    NOISE = "random bytes"


_HUGE = (
    struct.pack(">i", 2**31 - 1),
    struct.pack(">i", 10_000_000),
    struct.pack(">h", 2**15 - 1),
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
)
"""Counts of arrays and lengths of texts: with fixed size, and as varints."""


class Frames:
    """Generates frames for one listener. Equal seeds give equal frames."""

    def __init__(self, registry: Registry, seed: int) -> None:
        self.random = Random(seed)
        self._apis: Sequence[Api] = list(registry.values())
        self._draws: dict[Kind, Callable[[Api], bytes]] = {
            Kind.BITS: self._flipped,
            Kind.CUT: self._cut,
            Kind.LENGTH: self._wrong_length,
            Kind.RUBBISH: self._rubbish,
            Kind.HUGE: self._huge,
            Kind.TAGS: self._tagged,
            Kind.UNKNOWN: self._unknown,
            Kind.NOISE: self._noise,
        }

    def next(self, kind: Kind | None = None) -> bytes:
        """Return a frame with its length, of this kind or of any."""
        kind = kind or self.random.choice(list(Kind))
        api = self.random.choice(self._apis)
        if kind not in (Kind.CUT, Kind.UNKNOWN, Kind.NOISE) and api.name in BELIEVED:
            kind = Kind.RUBBISH
        return self._draws[kind](api)

    def _version(self, api: Api) -> int:
        return self.random.randint(max(api.min_version, api.request.MIN_VERSION), api.max_version)

    def _valid(self, api: Api) -> tuple[bytes, int]:
        """Return a valid request without its length, and the place at which its body begins."""
        version = self._version(api)
        message = random_message(REQUESTS[api.request.__name__], version, self.random)
        whole = b"".join(encode_request(api, version, 1, "fuzz", message))[4:]
        return whole, len(whole) - sum(map(len, message.parts(version)))

    def _flipped(self, api: Api) -> bytes:
        frame = bytearray(self._valid(api)[0])
        for _ in range(self.random.choice((1, 1, 2, 8))):
            place = self.random.randrange(len(frame))
            frame[place] ^= 1 << self.random.randrange(8)
        return _framed(frame)

    def _cut(self, api: Api) -> bytes:
        frame, begin = self._valid(api)
        return _framed(frame[: self.random.randint(min(begin, len(frame) - 1), len(frame) - 1)])

    def _wrong_length(self, api: Api) -> bytes:
        frame, _ = self._valid(api)
        claimed = self.random.choice((-1, -(2**31), 0, 3, len(frame) - 1, len(frame) + 1, 2**20, 2**26, 2**31 - 1))
        return struct.pack(">i", max(claimed, -(2**31))) + frame

    def _rubbish(self, api: Api) -> bytes:
        frame, begin = self._valid(api)
        return _framed(frame[:begin] + self.random.randbytes(self.random.choice((0, 1, 7, 40, 300))))

    def _huge(self, api: Api) -> bytes:
        frame, begin = self._valid(api)
        place = self.random.randint(begin, len(frame))
        return _framed(
            frame[:place] + self.random.choice(_HUGE) + frame[place : place + self.random.choice((0, 8, 64))]
        )

    def _tagged(self, api: Api) -> bytes:
        """Break the section of tagged fields at the end, which flexible versions have."""
        frame, begin = self._valid(api)
        count = self.random.choice((b"\x01", b"\x7f", b"\xff\xff\xff\xff\x0f"))
        size = self.random.choice((b"\x00", b"\x7f", b"\xff\xff\xff\xff\x0f"))
        return _framed(frame[: max(begin, len(frame) - 1)] + count + b"\x07" + size + self.random.randbytes(3))

    def _unknown(self, api: Api) -> bytes:
        frame = self._valid(api)[0]
        key = self.random.choice((api.key, -1, 999, self.random.randrange(-(2**15), 2**15)))
        version = self.random.choice((-1, 100, 2**15 - 1))
        return _framed(struct.pack(">hh", key, version) + frame[4:])

    def _noise(self, _: Api) -> bytes:
        return self.random.randbytes(self.random.choice((1, 4, 5, 17, 200)))


def _framed(frame: bytes | bytearray) -> bytes:
    return struct.pack(">i", len(frame)) + frame
