"""Mask what differs from run to run in messages and log lines, so that failures of one kind get one signature.

Method: mask numbers, digests and ids, then hash, and keep the version of the masking beside the hash (Chromium LUCI,
failure clusters by reason).
"""

import hashlib
import re
from typing import Final

MASKING: Final = 1
"""Version of the rules below. Raise it with each change of them: older signatures do not compare with newer ones."""

_RULES: Final = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?", "<time>"),
        (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "<address>"),
        (r"(?<![\w.])(?:/[\w.@+-]+){2,}/?", "<path>"),
        (r"@[0-9a-f]{5,8}\b", "@<hash>"),
        (r"\b0x[0-9a-fA-F]+\b", "<hex>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b", "<hex>"),
        # A Kafka id: 16 bytes in base64, with a digit and letters of both cases.
        (r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{22}(?![\w-])", "<id>"),
        (r"\[(?:-?\d+(?:, ?)?)+\]", "[<n>]"),
        (r"\d+(?:[.,]\d+)*", "<n>"),
    )
)


def mask(text: str) -> str:
    """Return the text with times, addresses, paths, ids and numbers masked, and white space joined."""
    for pattern, name in _RULES:
        text = pattern.sub(name, text)
    return " ".join(text.split())


def masked_signature(*parts: str) -> str:
    """Return sixteen hexadecimal digits over the parts, which are masked already."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
