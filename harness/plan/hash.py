"""The hash that names a plan."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from harness.plan.model import Plan

_LEADING = ("do", "as", "request", "condition", "fault", "that")


def plain(plan: Plan) -> dict[str, Any]:
    """The plan as plain data: the file's keys, nothing that is absent or empty."""
    data = plan.model_dump(mode="json", by_alias=True, exclude_none=True)
    tidy: dict[str, Any] = _tidy(data)
    return tidy


def plan_hash(plan: Plan) -> str:
    """sha256 of the canonical JSON, in hex; its first eight digits name the plan. Layout and comments do not count."""
    canonical = json.dumps(plain(plan), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _tidy(value: Any) -> Any:
    """Without empty parts, and what says of which kind a part is comes first."""
    if isinstance(value, dict):
        leading = [key for key in _LEADING if key in value]
        return {key: _tidy(value[key]) for key in dict.fromkeys([*leading, *value]) if value[key] not in ([], {})}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    return value
