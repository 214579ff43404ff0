"""Ranges of releases: which versions exist, and in which of them a listed difference shows."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from fencepost.faults.capabilities import Capability
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.targets import registry
from fencepost.harness.targets.file import ListedBug
from fencepost.harness.targets.jars import is_at_home
from fencepost.harness.targets.registry import VARIABLE, load, load_file
from fencepost.harness.targets.releases import never_run, within
from fencepost.harness.yaml_file import YamlFileError
from fencepost.suites.expectations import must
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts
from tests.harness.targets.test_registry import ACME

TARGETS = Path(registry.__file__).parent
LISTED = """\
differences:
  - {id: AC-01, requirement: K631-41, message: It waits., reason: A timer., releases: ">=2.0,<3"}
"""


@pytest.mark.parametrize(
    ("version", "releases", "expected"),
    [
        ("3.9.1", ">=3.3,<4.0", True),
        ("4.0.0", ">=3.3,<4.0", False),
        ("3.9.1-acme-2", ">=3.9,<4.0", True),
        ("4.0.0-rc1", "<4.0", False),
        ("9.9.9", None, True),
        ("new", ">=1", False),
    ],
)
def test_a_version_is_in_a_range(version: str, releases: str | None, expected: bool) -> None:
    assert within(version, releases) is expected


@pytest.mark.parametrize(
    ("published", "tested", "new"),
    [
        (["4.3.1", "4.4.0"], ["4.3.1", "4.4.0"], []),
        (["4.4.0", "4.5.0", "4.3.2"], ["4.3.1", "4.4.0"], ["4.3.2", "4.5.0"]),
        (["4.3.0", "4.10.0"], ["4.3.1", "4.9.0"], ["4.10.0"]),
        (["1.0.2", "1.1.1"], ["0.11.0.3", "1.1.1"], []),
        (["1.0.0"], [], ["1.0.0"]),
    ],
)
def test_a_release_after_the_last_that_was_run_of_its_line_was_never_run(
    published: list[str], tested: list[str], new: list[str]
) -> None:
    assert never_run(published, tested) == new


@pytest.mark.parametrize("name", ["apache-kafka", "apache-kafka-zk"])
def test_every_listed_release_was_run_or_has_a_later_one_that_was(name: str) -> None:
    file = load_file(name)
    assert never_run(file.published, file.tested) == []
    assert {*file.tested} <= {*file.published}
    assert file.version in file.tested


@pytest.mark.parametrize(("version", "listed"), [("1.9", False), ("2.4", True), ("3.0", False)])
def test_a_difference_excuses_nothing_outside_its_releases(
    version: str, listed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    text = ACME.replace("driver: fencepost.harness.targets.quorum:Quorum", "process: {command: [acme]}")
    (tmp_path / "acme.yaml").write_text(text + LISTED)
    facts = TargetFacts.of(f"{tmp_path}/acme.yaml:{version}")
    assert facts.differs("AC-01") is listed
    claim = facts.unless("AC-01", must("K631-41"), must("K631-44"))
    assert claim.difference == ("AC-01" if listed else None)


def test_a_range_that_is_none_is_refused_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "acme.yaml").write_text(ACME + LISTED.replace(">=2.0,<3", "2 to 3"))
    with pytest.raises(YamlFileError, match=r"`releases` at .*acme.yaml:21: Input should be a range like `>=3.3,<4.0`"):
        load_file(f"{tmp_path}/acme.yaml")


def test_the_known_difference_of_a_younger_request_is_none_of_older_releases() -> None:
    assert not TargetFacts.of("apache-kafka:3.7.2").differs("AK-08")
    assert TargetFacts.of("apache-kafka:3.9.1").differs("AK-08")
    assert not TargetFacts.of("apache-kafka:3.4.1").differs("AK-06")
    assert TargetFacts.of("apache-kafka:3.5.2").differs("AK-06")


def test_a_scenario_claims_a_difference_of_the_releases_that_have_it_only() -> None:
    for version, claimed in (("3.3.1", False), ("3.9.1", True)):
        facts = TargetFacts.of(f"apache-kafka:{version}")
        for scenario in scenarios_for(facts):
            plan = scenario.plan(facts, 1)
            claims = [getattr(step, "expect", None) for step in plan.steps]
            named = {each.difference for each in claims if each is not None and each.difference is not None}
            assert named <= facts.differences
            assert ("AK-08" in named) is (claimed and scenario.slug == "duplicate-id-empty")


@pytest.mark.parametrize(
    ("reference", "near"),
    [
        ("apache-kafka:3.3.7", "3.3.2 and 3.4.0"),
        ("apache-kafka-zk:2.1.7", "2.1.1 and 2.2.0"),
        ("apache-kafka:4.4.9", "4.4.0"),
    ],
)
def test_a_release_that_was_never_published_is_refused_with_the_nearest(
    reference: str, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    with pytest.raises(UsageError, match=rf"has no release '[0-9.]+'; the nearest known (is|are) {near};"):
        load(reference)


@pytest.mark.parametrize("version", ["3.9.1-acme-2", "0.10.2.2", "3.9.2"])
def test_a_build_of_its_own_is_taken_for_the_release_that_it_begins_with(version: str) -> None:
    assert load(f"apache-kafka-zk:{version}").version == version


def test_a_protocol_level_is_one_of_the_releases_that_have_it() -> None:
    assert TargetFacts.of("apache-kafka-zk:3.9.1").levels == ("base", "shipped")
    assert TargetFacts.of("apache-kafka-zk:2.1.1").levels == ("shipped",)


def test_a_level_of_two_releases_is_one_that_both_have() -> None:
    assert TargetFacts.of("apache-kafka:3.9.2..4.3.1").levels == ("static", "dynamic")
    assert TargetFacts.of("apache-kafka:3.8.1..4.3.1").levels == ("static",)


@pytest.mark.parametrize(
    ("slug", "first", "last_without"),
    [
        ("quorum-grown", "3.9.2", "3.8.1"),
        ("voters-join", "4.2.0", "4.1.2"),
        ("cordoned-log-dirs", "4.3.1", "4.2.2"),
        ("misrouted-clients", "4.4.0", "4.3.1"),
    ],
)
def test_a_scenario_is_asked_of_the_releases_that_have_what_it_is_about(
    slug: str, first: str, last_without: str
) -> None:
    for version, applies in ((first, True), (last_without, False), (f"{last_without}..{first}", False)):
        asked = {each.slug for each in scenarios_for(TargetFacts.of(f"apache-kafka:{version}"))}
        assert (slug in asked) is applies, version


def test_a_capability_is_one_of_the_releases_that_have_it() -> None:
    assert Capability.LOG_DIRS in TargetFacts.of("apache-kafka-zk:1.0.2").capabilities
    assert Capability.LOG_DIRS not in TargetFacts.of("apache-kafka-zk:0.11.0.3").capabilities


def test_producers_of_releases_without_sequence_numbers_are_not_idempotent() -> None:
    for version, idempotent in (("0.10.2.2", False), ("0.11.0.3", True)):
        facts = TargetFacts.of(f"apache-kafka-zk:{version}")
        scenario = next(each for each in scenarios_for(facts) if each.slug == "controlled-shutdown-in-turn")
        plan = scenario.plan(facts, 1)
        assert {each.idempotent for each in plan.workload.producers} == {idempotent}
        assert {step.idempotent for step in plan.steps if isinstance(step, Produce)} == {idempotent}


def test_a_release_that_is_unknown_is_taken_from_kafka_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    assert not is_at_home("9.9.9")
    with pytest.raises(UsageError, match="has no release"):
        load("apache-kafka:9.9.9")
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.13-9.9.9.jar").touch()
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path))
    assert load("apache-kafka:9.9.9").version == "9.9.9"


def _shows(listed: dict[str, str], version: str) -> bool:
    return "releases" in listed and within(version, listed["releases"])


def test_only_a_target_of_one_release_lists_differences_without_a_range() -> None:
    for path in TARGETS.glob("*.yaml"):
        whole = YAML(typ="safe").load(path)
        listed = [*whole.get("differences", ()), *whole.get("known_bugs", ())] if "releases" in whole else []
        empty = [each["id"] for each in listed if not any(map(partial(_shows, each), whole["published"]))]
        assert not empty, f"{path.name}: {empty} have no range with a published release"


@pytest.mark.parametrize("shown", [{}, {"outcome": "served", "says": "a text"}])
def test_a_known_bug_shows_in_an_answer_or_in_what_a_node_says(shown: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="either an `outcome` or a text"):
        ListedBug(id="AK-1", requirement="LIVE-07", message="m", **shown)


def test_a_difference_that_is_asked_at_one_level_is_one_of_the_releases_with_that_level() -> None:
    assert TargetFacts.of("apache-kafka-zk:2.7.1").differs("AZ-03")
    assert not TargetFacts.of("apache-kafka-zk:2.6.3").differs("AZ-03")
