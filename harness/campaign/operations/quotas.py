"""Quotas of users, client ids and addresses are set, validated and removed (KIP-546, KIP-612)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.mistakes import Mistake, MistakenRequests
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import ONLY_KAFKA, api
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

RELEASES: Mapping[str, Releases] = {"apache-kafka-zk": ">=2.8"}
ALTER = "alter_client_quotas"
Names = Mapping[str, str | None]
PRODUCED, CONSUMED, MUTATED = "producer_byte_rate", "consumer_byte_rate", "controller_mutation_rate"
RATES: Mapping[str, tuple[float, ...]] = {
    PRODUCED: (1, 1024, 2**53),
    CONSUMED: (1, 1024, 2**53),
    "request_percentage": (0.01, 100, 12.5),
    MUTATED: (0.5, 1, 1e6),
}
UNLIMITED: Mapping[str, tuple[float, ...]] = {PRODUCED: (2**52, 2**53), CONSUMED: (2**52, 2**53), MUTATED: (1e6, 1e7)}
"""Quotas that no client of a plan meets."""
OF_ADDRESSES: Mapping[str, tuple[float, ...]] = {"connection_creation_rate": (1, 100)}
ENTITIES: Sequence[tuple[Names, Mapping[str, tuple[float, ...]]]] = (
    ({"user": "quota-user"}, RATES),
    ({"user": "quota ü/%:"}, RATES),
    ({"client-id": "quota-client"}, RATES),
    ({"user": "quota-user", "client-id": "quota-client"}, RATES),
    ({"user": "quota-user", "client-id": None}, RATES),
    ({"user": None}, UNLIMITED),
    ({"client-id": None}, UNLIMITED),
    ({"ip": "192.0.2.1"}, OF_ADDRESSES),
)
"""Entities of which none is a client of a plan, and the defaults, each with the values of its quotas."""
MOST = 5
INVALID = 42


class ChangeQuotas(Operation):
    """Quotas of one entity are set, set to what they are, validated and removed: all of that is legal at any time."""

    name = "change-quotas"
    weight = 2
    at_end = True
    left_out = ONLY_KAFKA
    releases = RELEASES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        names, quotas = rng.choice(ENTITIES)
        keys = rng.sample(sorted(quotas), rng.randint(1, min(2, len(quotas))))
        steps: list[Step] = []
        for _ in range(rng.randint(1, MOST)):
            removes = rng.random() < 0.35
            values = {key: None if removes else float(rng.choice(quotas[key])) for key in keys}
            body = altered_quotas(names, values, validate_only=rng.random() < 0.25)
            for _ in range(rng.choice((1, 2))):
                how = asked(rng, script, of_any=True)
                steps.append(api(script, "remove" if removes else "quota", how, ALTER, body))
        title = ", ".join(f"{type} {name or '<default>'}" for type, name in names.items())
        return GeneratedOperation(f"{' and '.join(keys)} of {title} changed by {len(steps)} requests", tuple(steps))


class MistakenQuotas(MistakenRequests):
    """Quotas are asked for that no entity can have."""

    name = "mistaken-quotas"
    weight = 1
    left_out = ONLY_KAFKA
    releases = RELEASES

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        user: Names = {"user": "quota-unknown"}
        for title, names, values in (
            ("an unknown quota", user, {"no_such_rate": 1.0}),
            ("an unknown entity", {"no-such-entity": "x"}, {PRODUCED: 1.0}),
            ("a quota of nothing", {}, {PRODUCED: 1.0}),
            ("a part of a byte", user, {PRODUCED: 1.5}),
            ("an address with a user", {**user, "ip": "192.0.2.1"}, {PRODUCED: 1.0}),
        ):
            yield Mistake(title, ALTER, altered_quotas(names, values), (INVALID,), of_any=True)


def altered_quotas(names: Names, values: Mapping[str, float | None], *, validate_only: bool = False) -> dict[str, Any]:
    """Return the body that gives an entity these quotas. None removes one; a name that is None is the default."""
    entity = [{"entity_type": type, "entity_name": name} for type, name in names.items()]
    ops = [
        {"key": key, "value": 0.0 if value is None else value, "remove": value is None} for key, value in values.items()
    ]
    return {"entries": [{"entity": entity, "ops": ops}], "validate_only": validate_only}
