"""The hash that names a plan."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fencepost.harness.plan.model import Plan

VERBATIM = ("body", "where", "answer")
"""The request and the claims of a probe: an empty list in them is not the same as none."""
_LEADING = ("do", "as", "request", "condition", "fault", "that")


def plain(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain data with the keys of the file, without absent and empty values."""
    data = plan.model_dump(mode="json", by_alias=True, exclude_none=True)
    tidy: dict[str, Any] = _tidy(data)
    return tidy


def plan_hash(plan: Plan) -> str:
    """Return the hash that names the plan. Its first eight digits name the run folders."""
    return hash_of(plain(plan))


def hash_of(data: Any) -> str:
    """Return the sha256 of the canonical JSON of plain data, in hex."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _tidy(value: Any) -> Any:
    """Drop empty parts, and put the keys first that say which kind a part is."""
    if isinstance(value, dict):
        leading = [key for key in _LEADING if key in value]
        return {
            key: value[key] if key in VERBATIM else _tidy(value[key])
            for key in dict.fromkeys([*leading, *value])
            if value[key] not in ([], {})
        }
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    return value
