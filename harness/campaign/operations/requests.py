"""Requests of any API, as operations send them, and the kinds of targets that have them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.operation import Asked, asked
from fencepost.harness.plan.base import ExpectOutcome, KnownBug, Level
from fencepost.harness.plan.requests.api import ApiProbe

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

ONLY_KAFKA: Mapping[str, str] = dict.fromkeys(
    ("quorum", "zk-controller", "leader-driven"), "the reference cluster does not serve these requests of clients"
)
TOPIC, BROKER = 2, 4
"""Types of resources in requests about configuration."""
SET, DELETE, APPEND, SUBTRACT = range(4)
"""Operations of IncrementalAlterConfigs."""


def must(requirement: str, outcome: str = "served") -> ExpectOutcome:
    """Return the claim that each answer has this outcome."""
    return ExpectOutcome(level=Level.MUST, requirement=requirement, outcome=outcome)


def never(requirement: str, outcome: str) -> ExpectOutcome:
    """Return the claim that no answer has this outcome. It holds whatever is broken, also if the node is down."""
    return ExpectOutcome(level=Level.NEVER, requirement=requirement, outcome=outcome, optional=True)


def excusing(expect: ExpectOutcome, script: Script, bug: str) -> ExpectOutcome:
    """Return the claim without what the target lists as this known bug of its release, if it lists it."""
    listed = next((each for each in script.cluster.target.known_bugs if each.id == bug), None)
    known = KnownBug(id=listed.id, outcome=listed.outcome) if listed is not None and listed.outcome else None
    return expect.model_copy(update={"known_bug": known})


def any_broker(rng: random.Random, script: Script, requirement: str, *, certain: bool = True) -> Asked:
    """Return how a request is sent that each broker answers; it is claimed where LIVE-04 would be."""
    how = asked(rng, script, certain=certain, of_any=True)
    return how if how.expect is None else replace(how, expect=must(requirement))


def api(script: Script, name: str, how: Asked, request: str, body: dict[str, Any], **more: Any) -> ApiProbe:
    """Return a request written out, to be sent in this way."""
    return how.send(ApiProbe(as_=script.name(name), node=how.node, api=request, body=body, **more))


def altered(type: int, name: str, key: str, value: str | None, operation: int = SET) -> dict[str, Any]:
    """Return the body of a change of one setting of a topic, or of a broker; the name `` stands for all brokers."""
    change = {"name": key, "config_operation": operation, "value": value}
    resource = {"resource_type": type, "resource_name": name, "configs": [change]}
    return {"validate_only": False, "resources": [resource]}
