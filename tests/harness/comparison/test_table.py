"""Which cells differ, which of these a target file lists, and the exit code."""

from __future__ import annotations

from typing import Any

from fencepost.harness.comparison.answers import Answer, Answers
from fencepost.harness.comparison.data import as_data
from fencepost.harness.comparison.differences import differences
from fencepost.harness.comparison.markdown import in_markdown
from fencepost.harness.comparison.table import table_of
from fencepost.harness.targets.listed_answer import ListedAnswer

PROBE = "create-topics.no-name"


class Listing:
    """Lists answers of targets, by their names."""

    def __init__(self, **listed: ListedAnswer) -> None:
        self._listed = listed

    def reason(self, target: str, probe: str, answer: str, paths: tuple[str, ...]) -> str | None:
        listed = self._listed.get(target)
        return listed.reason if listed is not None and listed.covers("1", probe, answer, paths) else None


def answers(target: str, answer: Answer, **state: Any) -> Answers:
    return Answers(target, "", {PROBE: answer}, state, {PROBE: "create_topics"})


def refused(code: int) -> Answer:
    return Answer(str(code), 5, {"topics": [{"error_code": code}]}, 0.01)


OK = Answer("ok", 5, {"topics": [{"error_code": 0}]}, 0.01)


def test_the_same_answers_are_no_difference() -> None:
    table = table_of([answers("a", OK), answers("b", OK)], Listing())
    assert [row.kind for row in table.rows] == ["same"]
    assert table.exit_code == 0


def test_another_error_is_a_difference_that_says_no_more_than_that() -> None:
    table = table_of([answers("a", refused(17)), answers("b", OK)], Listing())
    assert [str(each) for each in table.rows[0].cells[1].differs] == ["17 and ok"]
    assert (table.rows[0].kind, table.exit_code) == ("different", 1)


def test_another_value_is_a_difference_at_its_path() -> None:
    other = Answer("ok", 5, {"topics": [{"error_code": 0, "num_partitions": 3}]}, 0.01)
    first = Answer("ok", 5, {"topics": [{"error_code": 0, "num_partitions": 1}]}, 0.01)
    table = table_of([answers("a", first), answers("b", other)], Listing())
    assert [str(each) for each in table.rows[0].cells[1].differs] == ["topics[0].num_partitions: 1 and 3"]


def test_a_listed_difference_has_its_reason_and_fails_nothing() -> None:
    listed = ListedAnswer(probes=("create-topics.*",), answer="ok", reason="It takes any name.")
    both = [answers("a", refused(17)), answers("b", OK)]
    table = table_of(both, Listing(b=listed))
    assert (table.rows[0].kind, table.exit_code) == ("listed", 0)
    assert table.rows[0].cells[1].reason == "It takes any name."
    assert "It takes any name." in in_markdown(table)
    assert as_data(table)["rows"][0]["cells"]["b"]["reason"] == "It takes any name."


def test_a_listed_answer_excuses_no_other_one() -> None:
    listed = ListedAnswer(probes=(PROBE,), answer="ok", reason="It takes any name.")
    table = table_of([answers("a", refused(17)), answers("b", refused(42))], Listing(b=listed))
    assert table.exit_code == 1


def test_what_the_first_target_lists_excuses_the_others() -> None:
    listed = ListedAnswer(probes=(PROBE,), answer="17", reason="Only this release says so.")
    table = table_of([answers("a", refused(17)), answers("b", OK)], Listing(a=listed))
    assert (table.rows[0].kind, table.rows[0].cells[1].reason) == ("listed", "Only this release says so.")


def test_listed_fields_excuse_no_other_field() -> None:
    listed = ListedAnswer(probes=(PROBE,), fields=("topics[*].error_code",), reason="")
    assert listed.covers("1", PROBE, "ok", ("topics[0].error_code",))
    assert not listed.covers("1", PROBE, "ok", ("topics[0].error_code", "topics[0].name"))


def test_a_listed_answer_is_of_its_releases() -> None:
    listed = ListedAnswer(probes=(PROBE,), reason="", releases="<4.0")
    assert listed.covers("3.9.2", PROBE, "ok", ())
    assert not listed.covers("4.0.0", PROBE, "ok", ())


def test_what_is_not_offered_is_no_difference_but_proves_nothing() -> None:
    table = table_of([answers("a", OK), answers("b", Answer("not offered"))], Listing())
    assert (table.rows[0].kind, table.exit_code) == ("same", 3)


def test_the_first_target_that_answers_is_what_others_are_compared_with() -> None:
    three = [answers("a", Answer("not offered")), answers("b", OK), answers("c", refused(3))]
    [row] = table_of(three, Listing()).rows
    assert [bool(cell.differs) for cell in row.cells] == [False, False, True]


def test_a_broker_that_ended_differs_from_one_that_did_not() -> None:
    table = table_of([answers("a", OK), answers("b", Answer("ended"))], Listing())
    assert table.rows[0].kind == "different"


def test_what_is_described_in_the_end_is_compared() -> None:
    one, other = answers("a", OK, topics={"t": [1]}), answers("b", OK, topics={"t": [1, 2], "u": [1]})
    rows = {row.name: row for row in table_of([one, other], Listing()).rows}
    assert [str(each) for each in rows["state.topics.t"].cells[1].differs] == [": 1 items and 2 items"[2:]]
    assert [cell.short for cell in rows["state.topics.u"].cells] == ["absent", "there"]


def test_a_kind_that_a_target_does_not_describe_is_no_difference() -> None:
    table = table_of([answers("a", OK, quotas={"q": 1}), answers("b", OK)], Listing())
    assert {row.kind for row in table.rows} == {"same"}


def test_much_longer_is_shown_and_is_no_difference() -> None:
    slow = Answer("ok", 5, OK.response, 2.0)
    table = table_of([answers("a", OK), answers("b", slow)], Listing())
    assert (table.rows[0].cells[1].slower, table.exit_code) == (200.0, 0)


def test_of_two_versions_only_the_fields_of_both_are_compared() -> None:
    assert not list(differences({"a": 1, "b": 2}, {"a": 1}, same_version=False))
    assert [str(each) for each in differences({"a": 1, "b": 2}, {"a": 1})] == ["b: 2 and absent"]
