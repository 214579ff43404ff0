"""The answer of a stand-in for a node to ApiVersions, in its version 0, which every client can read."""

from __future__ import annotations

import struct
from collections.abc import Mapping

API_VERSIONS = 18


def offering(correlation_id: int, offered: Mapping[int, tuple[int, int]], error: int = 0) -> bytes:
    """Return the response, framed: `offered` has the lowest and the highest version by API key."""
    keys = b"".join(struct.pack(">hhh", key, *versions) for key, versions in offered.items())
    body = struct.pack(">ihi", correlation_id, error, len(offered)) + keys
    return struct.pack(">i", len(body)) + body


def asks_for_versions(request: bytes) -> bool:
    """Return whether a framed request is ApiVersions."""
    return bool(struct.unpack_from(">h", request, 4)[0] == API_VERSIONS)
