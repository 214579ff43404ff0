from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from tests.harness.model.histories import Cluster

pytestmark = pytest.mark.requirement("MDL-08")

KIND = "client quotas"
PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
Entity = Sequence[Mapping[str, Any]]


def entity(**names: str | None) -> Entity:
    return [{"entity_type": type.replace("_", "-"), "entity_name": name} for type, name in names.items()]


ENTITIES = [entity(user="alice"), entity(user=None), entity(user="alice", client_id="c"), entity(client_id="c")]


def altered(entity: Entity, validate_only: bool = False, **values: float | None) -> Mapping[str, Any]:
    """Return the body that gives an entity these quotas; None removes one."""
    ops = [
        {"key": key, "value": 0.0 if value is None else value, "remove": value is None} for key, value in values.items()
    ]
    return {"entries": [{"entity": entity, "ops": ops}], "validate_only": validate_only}


def made(seed: int, lost: float = 0.2) -> Cluster:
    rng = random.Random(seed)
    cluster = Cluster(KINDS[KIND], lambda state: state, answer, rng)
    cluster.describe()
    for _ in range(rng.randint(2, 9)):
        values = {key: rng.choice((None, 1.0, 0.5, 2.0**53)) for key in rng.sample((PRODUCED, CONSUMED), 1)}
        body = altered(rng.choice(ENTITIES), rng.random() < 0.2, **values)
        cluster.ask("alter_client_quotas", body, lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.describe()
    return cluster


def answer(sent: Sent, codes: Mapping[str, int], code: int = 0) -> Mapping[str, Any]:
    return {"entries": [{"entity": each["entity"][::-1], "error_code": code} for each in sent.body["entries"]]}


@given(st.integers(0, 10_000))
def test_a_cluster_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "other", "unasked")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects = dict(cluster.last)
    if not objects or how == "unasked":
        objects["producer_byte_rate of user=other"] = 1.0
    elif how == "gone":
        objects.popitem()
    else:
        objects[next(iter(objects))] *= 2
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-08"]


MINE = f"{PRODUCED} of client-id=c user=alice"


def looks(*seen: Mapping[str, float]) -> list[Checkpoint]:
    return [
        Checkpoint(str(number), [Description(KIND, "n", objects, 2.0 * number, 2.0 * number + 0.1)])
        for number, objects in enumerate(seen)
    ]


@pytest.mark.parametrize(
    ("value", "validate_only", "code", "after"),
    [(5.0, False, 0, 5.0), (5.0, True, 0, 1.0), (5.0, False, 42, 1.0), (None, False, 0, None), (None, True, 0, 1.0)],
)
def test_only_what_was_accepted_and_not_only_validated_changes_a_quota(
    value: float | None, validate_only: bool, code: int, after: float | None
) -> None:
    body = altered(entity(user="alice", client_id="c"), validate_only, **{PRODUCED: value})
    silent = Sent("alter_client_quotas", body, 1, 1.1)
    sent = [Sent("alter_client_quotas", body, 1, 1.1, answer(silent, {}, code))]
    for seen in (1.0, 5.0, None):
        problems = compare(sent, looks({MINE: 1.0}, {} if seen is None else {MINE: seen})).problems
        assert bool(problems) is (seen != after)


def test_descriptions_name_each_entity_and_quota() -> None:
    kind = KINDS[KIND]
    question = next(iter(kind.questions(Scope())))
    values = [{"key": PRODUCED, "value": 1.0}, {"key": CONSUMED, "value": 2.5}]
    answer = {"error_code": 0, "entries": [{"entity": entity(user=None), "values": values}]}
    seen = {f"{PRODUCED} of user=<default>": 1.0, f"{CONSUMED} of user=<default>": 2.5}
    assert kind.read(question, answer) == seen
    assert kind.read(question, {"error_code": 31, "entries": None}) is None
