"""Scenarios, checkers and requirements that a target file brings, without an installed package."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from fencepost.harness.catalogue import CatalogueError, add_catalogue, describe
from fencepost.harness.catalogue.installed import VARIABLE as CATALOGUES
from fencepost.harness.catalogue.installed import read_catalogues
from fencepost.harness.checkers.added import added_checkers
from fencepost.harness.extensions import ExtensionError
from fencepost.harness.targets.registry import VARIABLE as TARGETS
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.verdict import Verdict
from fencepost.suites.scenarios import SCENARIOS, scenarios_for, suites_for
from fencepost.suites.target_facts import TargetFacts
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.targets.test_registry import ACME

SCENARIO = """\
from dataclasses import replace
from fencepost.suites.scenario import declared_in

[THEIRS, *_] = declared_in("fencepost.suites.kip_631.starts_fenced")
SCENARIOS = (replace(THEIRS, slug="{slug}"),)
"""
CHECKERS = """\
from fencepost.harness.checkers.check import Check
from fencepost.results.records.verdict import Basis

CHECK = Check("acme", "A record of Acme", "ACME-01", Basis.PRESENCE)


def held(history):
    return CHECK.held(1, "One record was right.")


def fails(history):
    raise RuntimeError("a defect of the checker")


def mute(history):
    return None


SEVERAL = (held, fails, mute)
NUMBER = 7
"""
RULES = """\
format: fencepost-requirements/1
documents: [{name: Acme handbook, title: The handbook}]
groups:
  - document: Acme handbook
    kind: document
    prefix: ACME
    title: Rules of Acme
    rows:
      - {id: ACME-01, section: Records, level: must, says: A record is never empty.}
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(TARGETS, "")
    monkeypatch.setenv(CATALOGUES, "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("acme_scenarios", "acme_checkers"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    (tmp_path / "acme_scenarios.py").write_text(SCENARIO.format(slug="acme-starts"))
    (tmp_path / "acme_checkers.py").write_text(CHECKERS)
    (tmp_path / "rules.yaml").write_text(RULES)
    path = tmp_path / "acme.yaml"
    path.write_text(ACME + "scenarios: [acme_scenarios:SCENARIOS]\ncatalogues: [rules.yaml]\n")
    return path


def test_the_scenarios_of_a_target_file_stand_beside_the_shipped_ones(acme: Path) -> None:
    facts = TargetFacts.of(str(acme))
    slugs = [scenario.slug for scenario in scenarios_for(facts)]
    assert "acme-starts" in slugs
    assert "starts-fenced" in slugs
    assert [scenario.slug for scenario in suites_for(facts)["acme_scenarios"]] == ["acme-starts"]
    assert "acme-starts" not in {scenario.slug for scenario in scenarios_for(TargetFacts.of("quorum"))}


def test_a_scenario_with_the_name_of_a_shipped_one_is_refused(acme: Path) -> None:
    (acme.parent / "acme_scenarios.py").write_text(SCENARIO.format(slug=SCENARIOS[0].slug))
    with pytest.raises(ExtensionError, match=f"the scenario {SCENARIOS[0].slug} is in the suites .* and acme_"):
        scenarios_for(TargetFacts.of(str(acme)))


def test_what_is_no_scenario_is_refused(acme: Path) -> None:
    (acme.parent / "acme_scenarios.py").write_text("SCENARIOS = 7\n")
    with pytest.raises(ExtensionError, match="acme_scenarios:SCENARIOS is 7: a tuple of Scenario objects is needed"):
        scenarios_for(TargetFacts.of(str(acme)))


def test_the_rules_of_a_target_file_are_described(acme: Path) -> None:
    assert describe("ACME-01") is None
    TargetFacts.of(str(acme))
    row = describe("ACME-01")
    assert row is not None
    assert row.says == "A record is never empty."


def test_the_copy_of_a_catalogue_in_a_run_folder_does_not_collide_with_it(acme: Path, tmp_path: Path) -> None:
    TargetFacts.of(str(acme))
    (tmp_path / "copy").mkdir()
    copy = shutil.copy(tmp_path / "rules.yaml", tmp_path / "copy")
    add_catalogue(Path(copy))
    assert describe("ACME-01") is not None
    Path(copy).unlink()
    (tmp_path / "rules.yaml").unlink()
    read_catalogues.cache_clear()
    with pytest.raises(CatalogueError, match=r"there is no catalogue .*rules.yaml, which FENCEPOST_CATALOGUES lists"):
        describe("ACME-01")


def test_a_catalogue_that_is_not_there_is_refused_at_its_line(acme: Path) -> None:
    acme.write_text(ACME + "catalogues: [ruled.yaml]\n")
    with pytest.raises(YamlFileError, match=r"`catalogues` at .*acme.yaml:20: there is no file .*ruled.yaml"):
        TargetFacts.of(str(acme))


def test_a_checker_that_fails_is_infrastructure_and_the_others_judge(acme: Path) -> None:
    checkers = added_checkers(["acme_checkers:SEVERAL"], [acme.parent])
    history = JournalBuilder().history()
    found = [checker(history) for checker in checkers]
    assert [each.verdict for each in found] == [Verdict.PASS, Verdict.INFRASTRUCTURE, Verdict.INFRASTRUCTURE]
    assert "RuntimeError('a defect of the checker')" in found[1].message
    assert "returned None, which is no finding" in found[2].message


def test_what_is_no_checker_is_refused(acme: Path) -> None:
    with pytest.raises(ExtensionError, match="acme_checkers:NUMBER is 7: a function from a history to a finding"):
        added_checkers(["acme_checkers:NUMBER"], [acme.parent])
