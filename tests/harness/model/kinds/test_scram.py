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

pytestmark = pytest.mark.requirement("MDL-06")

KIND = "SCRAM credentials"
USERS, MECHANISMS, ITERATIONS = ("alice", "b/ob"), (1, 2), (4095, 4096, 8192, 16384, 16385)
MINE = "alice/SCRAM-SHA-256"


def made(seed: int, lost: float = 0.2) -> Cluster:
    rng = random.Random(seed)
    cluster = Cluster(KINDS[KIND], lambda state: state, answer, rng)
    cluster.describe()
    for _ in range(rng.randint(2, 9)):
        cluster.ask("alter_user_scram_credentials", request(rng), lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.describe()
    return cluster


def request(rng: random.Random) -> Mapping[str, Any]:
    user, mechanism = rng.choice(USERS), rng.choice(MECHANISMS)
    return deleted(user, mechanism) if rng.random() < 0.4 else upserted(user, mechanism, rng.choice(ITERATIONS))


def upserted(user: str, mechanism: int, iterations: int) -> Mapping[str, Any]:
    return {"deletions": [], "upsertions": [{"name": user, "mechanism": mechanism, "iterations": iterations}]}


def deleted(user: str, mechanism: int) -> Mapping[str, Any]:
    return {"deletions": [{"name": user, "mechanism": mechanism}], "upsertions": []}


def answer(sent: Sent, codes: Mapping[str, int]) -> Mapping[str, Any]:
    return {"results": [{"user": name.rpartition("/")[0], "error_code": code} for name, code in codes.items()]}


@given(st.integers(0, 10_000))
def test_a_cluster_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "other", "unasked")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects = dict(cluster.last)
    if not objects or how == "unasked":
        objects["carol/SCRAM-SHA-256"] = 4096
    elif how == "gone":
        objects.popitem()
    else:
        objects[next(iter(objects))] += 1
    assert [each.requirement for each in cluster.with_last(objects).problems] == ["MDL-06"]


def sent(body: Mapping[str, Any], code: int, t: float = 1.0) -> Sent:
    return Sent("alter_user_scram_credentials", body, t, t + 0.1, {"results": [{"user": "alice", "error_code": code}]})


def looks(*seen: Mapping[str, int]) -> list[Checkpoint]:
    return [
        Checkpoint(str(number), [Description(KIND, "n", objects, 2.0 * number, 2.0 * number + 0.1)])
        for number, objects in enumerate(seen)
    ]


@pytest.mark.parametrize(("code", "accepted"), [(0, True), (93, False)])
@pytest.mark.parametrize("iterations", [4095, 16385])
def test_iterations_beyond_the_limits_have_to_be_refused(code: int, accepted: bool, iterations: int) -> None:
    problems = compare([sent(upserted("alice", 1, iterations), code)], looks({}, {})).problems
    assert ["accepted" in each.shown for each in problems] == [True] * accepted


def test_a_deletion_that_finds_nothing_may_be_the_second_one_of_a_forwarded_request() -> None:
    request = [sent(deleted("alice", 1), 91)]
    assert not compare(request, looks({MINE: 4096}, {})).problems
    assert not compare(request, looks({MINE: 4096}, {MINE: 4096})).problems
    assert compare(request, looks({MINE: 4096}, {MINE: 8192})).problems


def test_a_deletion_of_what_is_not_there_has_to_be_refused() -> None:
    assert [each.requirement for each in compare([sent(deleted("alice", 1), 0)], looks({}, {})).problems] == ["MDL-06"]


def test_the_other_mechanism_of_a_user_stays() -> None:
    other = "alice/SCRAM-SHA-512"
    request = [sent(deleted("alice", 1), 0)]
    assert not compare(request, looks({MINE: 4096, other: 8192}, {other: 8192})).problems
    assert [each.object for each in compare(request, looks({MINE: 4096, other: 8192}, {})).problems] == [other]


def test_descriptions_name_each_user_and_mechanism() -> None:
    kind = KINDS[KIND]
    question = next(iter(kind.questions(Scope())))
    infos = [{"mechanism": 1, "iterations": 4096}, {"mechanism": 2, "iterations": 8192}]
    results = [
        {"user": "alice", "error_code": 0, "credential_infos": infos},
        {"user": "bob", "error_code": 91, "credential_infos": []},
    ]
    seen = kind.read(question, {"error_code": 0, "results": results})
    assert seen == {MINE: 4096, "alice/SCRAM-SHA-512": 8192}
    assert kind.read(question, {"error_code": 31, "results": []}) is None
