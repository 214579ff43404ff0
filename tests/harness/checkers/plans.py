"""A small plan for tests of what judges and draws runs."""

from typing import Any

from fencepost.harness.plan.model import Plan


def plan(**changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "scenario": "tested",
        "title": "A scenario for tests",
        "document": "KIP-631",
        "seed": 7,
        "target": "quorum",
        "topology": {
            "nodes": [
                {"name": "node-1", "id": 1, "index": 1, "roles": ["controller"]},
                {"name": "node-4", "id": 4, "index": 4, "roles": ["broker"]},
                {"name": "node-5", "id": 5, "index": 5, "roles": ["broker"]},
            ]
        },
        "topics": [{"name": "t", "assignments": [[4, 5]]}],
        "workload": {"producers": [{"name": "p", "topic": "t"}]},
    }
    return Plan.model_validate(fields | changes)
