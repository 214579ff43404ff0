from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from tests.harness.model.histories import Cluster

pytestmark = pytest.mark.requirement("MDL-07")

LEVELS, EPOCHS = "feature levels", "feature epochs"
NAMES, UPGRADE, DOWNGRADE = ("x", "y"), 1, 2


def changed(name: str, level: int, type: int = UPGRADE, validate_only: bool = False) -> Mapping[str, Any]:
    update = {"feature": name, "max_version_level": level, "upgrade_type": type}
    return {"feature_updates": [update], "validate_only": validate_only}


def made(seed: int, lost: float = 0.2) -> Cluster:
    rng = random.Random(seed)
    cluster = Cluster(KINDS[LEVELS], lambda state: state, answer, rng, {"x": 1, "y": 3})
    cluster.describe()
    for _ in range(rng.randint(2, 9)):
        type = rng.choice((UPGRADE, UPGRADE, DOWNGRADE))
        body = changed(rng.choice(NAMES), rng.randint(0, 5), type, rng.random() < 0.2)
        cluster.ask("update_features", body, lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.describe()
    return cluster


def answer(sent: Sent, codes: Mapping[str, int]) -> Mapping[str, Any]:
    return {"error_code": 0, "results": [{"feature": name, "error_code": code} for name, code in codes.items()]}


@given(st.integers(0, 10_000))
def test_a_cluster_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "raised", "unasked")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects = dict(cluster.last)
    if not objects or how == "unasked":
        objects["z"] = 1
    elif how == "gone":
        objects.popitem()
    else:
        objects[next(iter(objects))] += 1
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-07"]


def looks(kind: str, *seen: Mapping[str, int]) -> list[Checkpoint]:
    def description(number: int, objects: Mapping[str, int]) -> Description:
        scope = sorted(objects) if kind == EPOCHS else None
        return Description(kind, "n", objects, 2.0 * number, 2.0 * number + 0.1, scope)

    return [Checkpoint(str(number), [description(number, objects)]) for number, objects in enumerate(seen)]


def sent(body: Mapping[str, Any], response: Mapping[str, Any]) -> list[Sent]:
    return [Sent("update_features", body, 1, 1.1, {"error_code": 0, "results": [], **response})]


def test_an_upgrade_to_a_lower_level_has_to_be_refused_and_a_downgrade_not() -> None:
    assert compare(sent(changed("x", 1), {}), looks(LEVELS, {"x": 2}, {"x": 1})).problems
    assert not compare(sent(changed("x", 1, DOWNGRADE), {}), looks(LEVELS, {"x": 2}, {"x": 1})).problems
    older = {"feature_updates": [{"feature": "x", "max_version_level": 1, "allow_downgrade": True}]}
    assert not compare(sent(older, {}), looks(LEVELS, {"x": 2}, {"x": 1})).problems


def test_no_type_of_change_lowers_the_level_of_the_metadata_format() -> None:
    lowered = looks(LEVELS, {"metadata.format": 2}, {"metadata.format": 1})
    assert compare(sent(changed("metadata.format", 1, DOWNGRADE), {}), lowered).problems


@pytest.mark.parametrize(
    "response",
    [
        {"error_code": 95},
        {"results": [{"feature": "x", "error_code": 95}]},
        {"error_code": 31, "results": [{"feature": "x", "error_code": 0}]},
    ],
)
def test_a_refusal_of_one_or_of_all_has_changed_nothing(response: Mapping[str, Any]) -> None:
    request = sent(changed("x", 3), response)
    assert not compare(request, looks(LEVELS, {"x": 2}, {"x": 2})).problems
    assert compare(request, looks(LEVELS, {"x": 2}, {"x": 3})).problems


def test_the_epoch_of_each_node_grows() -> None:
    assert not compare([], looks(EPOCHS, {"broker 4": 5}, {"broker 4": 5, "broker 5": 1}, {"broker 4": 9})).problems
    found = compare([], looks(EPOCHS, {"broker 4": 5}, {"broker 4": 4})).problems
    assert [(each.requirement, each.object) for each in found] == [("MDL-07", "broker 4")]


def test_answers_without_an_epoch_say_nothing() -> None:
    finalized = [{"name": "x", "max_version_level": 4, "min_version_level": 1}]
    answer = {"error_code": 0, "finalized_features_epoch": 7, "finalized_features": finalized}
    for name, seen in ((LEVELS, {"x": 4}), (EPOCHS, {"broker 4": 7})):
        kind = KINDS[name]
        question = next(iter(kind.questions(Scope(node_id=4))))
        assert kind.read(question, answer) == seen
        assert kind.read(question, {"error_code": 0}) is None
        assert kind.read(question, {**answer, "finalized_features_epoch": -1}) is None
        assert kind.read(question, {**answer, "error_code": 35}) is None
