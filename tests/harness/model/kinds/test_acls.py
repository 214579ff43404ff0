from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.acls import EVERYTHING, THERE, Entry
from fencepost.harness.model.sent import Checkpoint, Description, Sent
from fencepost.harness.model.worlds import State
from tests.harness.model.histories import Cluster

pytestmark = pytest.mark.requirement("MDL-05")

KIND = "access control entries"
TOPIC, GROUP = 2, 3
LITERAL, PREFIXED, ANY, MATCH = 3, 4, 1, 2


def entry(name: str = "ab", pattern: int = LITERAL, user: str = "User:u", operation: int = 3) -> dict[str, Any]:
    return {
        "resource_type": TOPIC,
        "resource_name": name,
        "resource_pattern_type": pattern,
        "principal": user,
        "host": "*",
        "operation": operation,
        "permission_type": 3,
    }


def object_of(fields: Mapping[str, Any]) -> str:
    return Entry.of(fields).object


def matching(**fields: Any) -> dict[str, Any]:
    return {**EVERYTHING, **fields}


ENTRIES = [entry(name, pattern) for name in ("a", "ab", "*") for pattern in (LITERAL, PREFIXED)]
FILTERS = [
    EVERYTHING,
    *(
        matching(resource_name_filter=name, pattern_type_filter=pattern)
        for name in ("a", "ab")
        for pattern in (LITERAL, PREFIXED, ANY, MATCH)
    ),
    matching(resource_type_filter=GROUP),
]


def made(seed: int, lost: float = 0.2) -> Cluster:
    rng = random.Random(seed)
    there: set[str] = set()

    def answer(sent: Sent, codes: Mapping[str, int]) -> Mapping[str, Any]:
        if sent.api == "create_acls":
            return {"results": [{"error_code": 0} for _ in sent.body["creations"]]}
        return {"filter_results": [deleted(each, there) for each in sent.body["filters"]]}

    cluster = Cluster(KINDS[KIND], lambda state: state, answer, rng)
    cluster.describe()
    for _ in range(rng.randint(2, 9)):
        there = {name for name, state in cluster.states.items() if state == THERE}
        cluster.ask(*request(rng), lost=rng.random() < lost)
        if rng.random() < 0.4:
            cluster.describe()
    cluster.describe()
    return cluster


def request(rng: random.Random) -> tuple[str, Mapping[str, Any]]:
    if rng.random() < 0.6:
        return "create_acls", {"creations": rng.choices(ENTRIES, k=2)}
    return "delete_acls", {"filters": rng.choices(FILTERS, k=2)}


def deleted(fields: Mapping[str, Any], there: Collection[str], code: int = 0) -> Mapping[str, Any]:
    entries = [each for each in ENTRIES if object_of(each) in there and Entry.of(fields).matches(Entry.of(each))]
    matches = [{**each, "pattern_type": each["resource_pattern_type"], "error_code": code} for each in entries]
    return {"error_code": 0, "matching_acls": matches}


@given(st.integers(0, 10_000))
def test_a_cluster_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    assert made(seed).compare().problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "unasked")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    cluster = made(seed, lost=0.0)
    objects: dict[str, State] = dict(cluster.last)
    if how == "gone" and objects:
        objects.popitem()
    else:
        absent = next((name for name in map(object_of, ENTRIES) if name not in objects), object_of(entry("other")))
        objects[absent] = THERE
    wrong = cluster.with_last(objects).problems
    assert [each.requirement for each in wrong] == ["MDL-05"]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"resource_name_filter": "ab", "pattern_type_filter": LITERAL}, {("ab", "literal")}),
        ({"resource_name_filter": "a", "pattern_type_filter": PREFIXED}, {("a", "prefixed")}),
        ({"resource_name_filter": "a"}, {("a", "literal"), ("a", "prefixed")}),
        (
            {"resource_name_filter": "ab", "pattern_type_filter": MATCH},
            {("ab", "literal"), ("ab", "prefixed"), ("a", "prefixed"), ("*", "literal")},
        ),
        ({"pattern_type_filter": MATCH}, {(each.name, each.pattern) for each in map(Entry.of, ENTRIES)}),
        ({"pattern_type_filter": PREFIXED}, {("a", "prefixed"), ("ab", "prefixed"), ("*", "prefixed")}),
        ({"resource_name_filter": "a", "principal_filter": "User:other"}, set()),
        ({"resource_name_filter": "a", "operation": 4}, set()),
    ],
)
def test_filters_match_by_the_type_of_their_pattern(fields: Mapping[str, Any], names: set[tuple[str, str]]) -> None:
    found = [each for each in map(Entry.of, ENTRIES) if Entry.of(matching(**fields)).matches(each)]
    assert {(each.name, each.pattern) for each in found} == names


def looks(*seen: Collection[str]) -> list[Checkpoint]:
    return [
        Checkpoint(str(number), [Description(KIND, "n", dict.fromkeys(names, THERE), 2.0 * number, 2.0 * number + 0.1)])
        for number, names in enumerate(seen)
    ]


MINE, OTHER = object_of(entry("ab")), object_of(entry("other"))


def deletion(response: Mapping[str, Any] | None, **fields: Any) -> Sent:
    body = {"filters": [matching(**fields)]}
    return Sent("delete_acls", body, 1, 1.1, response) if response else Sent("delete_acls", body, 1)


def test_what_the_answer_lists_was_there_and_is_gone() -> None:
    sent = [deletion({"filter_results": [deleted(EVERYTHING, {MINE})]})]
    assert not compare(sent, looks({MINE}, ())).problems
    assert len(compare(sent, looks({MINE}, {MINE})).problems) == 1
    assert ["accepted" in each.shown for each in compare(sent, looks((), ())).problems] == [True]


def test_a_forwarded_deletion_may_list_nothing_the_second_time() -> None:
    sent = [deletion({"filter_results": [{"error_code": 0, "matching_acls": []}]})]
    assert not compare(sent, looks({MINE}, ())).problems
    assert compare(sent, looks({MINE}, {MINE})).problems


def test_what_no_filter_matches_stays_even_if_the_answer_lists_it() -> None:
    named = {"resource_name_filter": "other"}
    sent = [deletion({"filter_results": [deleted(EVERYTHING, {MINE})]}, **named)]
    assert not compare(sent, looks({MINE, OTHER}, {MINE})).problems
    assert [each.object for each in compare(sent, looks({MINE, OTHER}, ())).problems] == [MINE]


def test_an_entry_whose_deletion_is_refused_stays() -> None:
    sent = [deletion({"filter_results": [deleted(EVERYTHING, {MINE}, code=42)]})]
    assert not compare(sent, looks({MINE}, {MINE})).problems
    assert compare(sent, looks({MINE}, ())).problems


def test_a_deletion_without_an_answer_may_hit_an_entry_that_was_created_after_it_began() -> None:
    created = Sent("create_acls", {"creations": [entry("ab")]}, 1.2, 1.3, {"results": [{"error_code": 0}]})
    for seen in ({MINE}, ()):
        assert not compare([deletion(None), created], looks((), seen)).problems
    assert compare([created], looks((), ())).problems


def test_a_node_lists_its_entries_and_without_an_authorizer_it_says_nothing() -> None:
    kind = KINDS[KIND]
    acl = {key: value for key, value in entry("ab").items() if not key.startswith("resource")}
    resource = {"resource_type": 2, "resource_name": "ab", "pattern_type": LITERAL, "acls": [acl]}
    assert kind.read(next(iter(kind.questions(Scope()))), {"error_code": 0, "resources": [resource]}) == {MINE: THERE}
    assert kind.read(next(iter(kind.questions(Scope()))), {"error_code": 54, "resources": []}) is None
