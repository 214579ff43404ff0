"""Targets from outside: files named by a path, files of installed packages, and the copy that a run folder keeps."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from fencepost.harness import extensions
from fencepost.harness.catalogue.installed import VARIABLE as CATALOGUES
from fencepost.harness.checkers.added import added_checkers
from fencepost.harness.errors import HarnessError
from fencepost.harness.targets import registry
from fencepost.harness.targets.registry import VARIABLE, keep_copy, load, load_file, names, open_run, reference_of
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.folder import RunFolder
from fencepost.suites.target_facts import TargetFacts

ACME = """\
name: acme
title: a broker of Acme
driver: fencepost.harness.targets.quorum:Quorum
version: "1"
dialect: kip-631
capabilities: [links, kill]
clusters_per_core: 1
timing:
  heartbeat_ms: [registration.heartbeat.interval.ms]
  lease_ms: [registration.lease.timeout.ms]
  session_ms: []
  fence_ms: []
  lag_ms: [replica.lag.time.max.ms]
  preferred_ms: []
  election_ms: [controller.quorum.election.timeout.ms]
  fetch_ms: [controller.quorum.fetch.timeout.ms]
  request_ms: [controller.quorum.request.timeout.ms]
settings:
  broker: {replica.fetch.wait.max.ms: 200, auto.create.topics.enable: false}
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme.yaml").write_text(ACME)
    return tmp_path / "acme.yaml"


def test_a_file_that_was_named_by_its_path_is_known_by_its_name(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TargetFacts.of("acme.yaml").reference == reference_of("./acme.yaml") == "acme:1"
    monkeypatch.chdir("/")
    assert load("acme:1").file.folder == acme.parent
    assert "acme" in names()


def test_numbers_and_truth_values_need_no_quotes(acme: Path) -> None:
    assert load_file("acme.yaml").settings.broker == {
        "replica.fetch.wait.max.ms": "200",
        "auto.create.topics.enable": "false",
    }


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("title:", "titel:", "unknown key `titel` at {}:2; did you mean `title`?"),
        ("  lease_ms:", "  leaze_ms:", "unknown key `leaze_ms` at {}:10; did you mean `lease_ms`?"),
        (
            "  session_ms: []\n",
            "",
            "`timing` at {}:8: missing session_ms: name the configuration keys that set each",
        ),
        ("kip-631", "kip-613", "`dialect` at {}:5: Input should be 'kip-631', 'kraft'"),
        ("[links, kill]", "[links, kil]", "not 'kil'; did you mean 'kill'?"),
        ('version: "1"\n', "", "missing key `version` at {}:1"),
        ("clusters_per_core: 1", "clusters_per_core: 0", "`clusters_per_core` at {}:7: Input should be greater than 0"),
        ("[links, kill]", "[" * 600 + "]" * 600, "more than 100 levels of nesting at {}:6"),
        ("name: acme", "name: quorum", "`name` at {}:1: quorum is a shipped target; give yours another name"),
        ("driver: fencepost", "driver: fencepots", "`driver` at {}:3: there is no module fencepots installed or in "),
        (
            "quorum:Quorum",
            "quorum:Quorun",
            "`driver` at {}:3: the module fencepost.harness.targets.quorum has no Q",
        ),
        ("quorum:Quorum", "quorum:unready", "quorum:unready is no class"),
        ("fencepost.harness.targets.quorum:Quorum", "qorum", "no installed package has a driver qorum: did you"),
    ],
)
def test_a_mistake_is_reported_with_its_line_before_anything_starts(
    right: str, wrong: str, message: str, acme: Path
) -> None:
    assert right in ACME
    acme.write_text(ACME.replace(right, wrong, 1))
    with pytest.raises(YamlFileError) as refused:
        load("./acme.yaml")
    assert message.format(acme) in str(refused.value)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("./acme.yml", "there is no target file acme.yml"),
        ("./acme", "./acme is no target: the name of a target file ends with .yaml"),
        ("qorum", "there is no target 'qorum': did you mean quorum?"),
    ],
)
def test_a_file_that_is_not_there_is_refused(reference: str, message: str, acme: Path) -> None:
    with pytest.raises(HarnessError, match=message):
        load(reference)


def test_a_file_that_extends_a_target_names_only_what_is_its_own(acme: Path) -> None:
    acme.write_text("name: acme\nextends: apache-kafka\ntitle: a fork\nversion: 4.4.0\nclusters_per_core: 0.5\n")
    ours, theirs = load("acme.yaml"), load_file("apache-kafka")
    assert (ours.version, ours.file.clusters_per_core) == ("4.4.0", 0.5)
    assert type(ours).__name__ == "ApacheKafka"
    assert (ours.file.timing, ours.file.differences) == (theirs.timing, theirs.differences)
    (acme.parent / "ours.yaml").write_text("name: ours\nextends: acme\ntitle: a fork of the fork\n")
    assert load("ours.yaml").file.clusters_per_core == 0.5


def test_a_file_of_the_environment_that_extends_a_target_is_found_by_its_name(
    acme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the processes of a campaign, which have read no file before."""
    fork = acme.parent / "fork.yaml"
    fork.write_text("name: fork\nextends: acme\ntitle: a fork\n")
    acme.write_text("name: acme\nextends: apache-kafka\ntitle: a fork\nclusters_per_core: 0.5\n")
    monkeypatch.setenv(VARIABLE, f"{fork}{os.pathsep}{acme}")
    assert load("fork").file.clusters_per_core == 0.5


@pytest.mark.parametrize("base", ["acme", "fork"])
def test_files_that_extend_each_other_are_refused(base: str, acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fork = acme.parent / "fork.yaml"
    fork.write_text("name: fork\nextends: acme\ntitle: a fork\n")
    acme.write_text(f"name: acme\nextends: {base}\ntitle: x\n")
    monkeypatch.setenv(VARIABLE, f"{fork}{os.pathsep}{acme}")
    with pytest.raises(YamlFileError, match=f"`extends` at {acme}:2: {base} cannot extend itself"):
        load("acme")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "name: acme\nextends: apache-kafak\n",
            "`extends` at {}:2: there is no target 'apache-kafak': did you mean apac",
        ),
        ("name: acme\nextends: quorum\n", "missing key `title` at {}:1"),
        ("name: acme\ntitle: x\nextends: quorum\nlevel: 1\n", "unknown key `level` at {}:4; did you mean `levels`?"),
    ],
)
def test_a_mistake_in_a_file_that_extends_a_target_has_its_line(text: str, message: str, acme: Path) -> None:
    acme.write_text(text)
    with pytest.raises(YamlFileError) as refused:
        load("acme.yaml")
    assert message.format(acme) in str(refused.value)


def test_a_driver_may_stand_beside_the_file(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (acme.parent / "acme_driver.py").write_text(
        "from fencepost.harness.targets.quorum import Quorum\n\n\nclass Acme(Quorum):\n    pass\n"
    )
    acme.write_text(ACME.replace("fencepost.harness.targets.quorum:Quorum", "acme_driver:Acme"))
    assert type(load("acme.yaml")).__name__ == "Acme"


def test_a_driver_that_does_not_load_names_its_error(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (acme.parent / "acme_broken.py").write_text("import no_such_library\n")
    acme.write_text(ACME.replace("fencepost.harness.targets.quorum:Quorum", "acme_broken:Acme"))
    with pytest.raises(YamlFileError, match="the module acme_broken does not load: No module named 'no_such_library'"):
        load("acme.yaml")


def test_an_installed_package_brings_targets_and_drivers(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = acme.parent / "acme_fencepost"
    package.mkdir()
    (package / "__init__.py").touch()
    acme.rename(package / "acme.yaml").write_text(ACME.replace("fencepost.harness.targets.quorum:Quorum", "acme"))
    monkeypatch.syspath_prepend(str(acme.parent))
    points = {
        registry.TARGETS: [EntryPoint("acme", "acme_fencepost", registry.TARGETS)],
        registry.DRIVERS: [EntryPoint("acme", "fencepost.harness.targets.quorum:Quorum", registry.DRIVERS)],
    }
    monkeypatch.setattr(extensions, "entry_points", lambda group: points.get(group, []))
    assert "acme" in names()
    assert type(load("acme")).__name__ == "Quorum"


def test_a_run_folder_keeps_the_file_so_that_the_run_is_judged_without_it(
    acme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("acme.yaml")
    folder = RunFolder.create_at(tmp_path / "run")
    folder.plan.touch()
    keep_copy("acme", folder)
    keep_copy("quorum", RunFolder.create_at(tmp_path / "of-shipped"))
    assert not (tmp_path / "of-shipped" / "target").exists()
    acme.unlink()
    monkeypatch.setenv(VARIABLE, "")
    open_run(folder.path)
    assert load_file("acme").folder == tmp_path
    assert load_file("acme").title == "a broker of Acme"


def test_the_copy_stands_alone_with_all_that_judges_the_run(
    acme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    (repository / "rules").mkdir(parents=True)
    (repository / "acme_copied.py").write_text("def check(history): ...\n")
    (repository / "rules" / "own.yaml").write_text("format: fencepost-requirements/1\ndocuments: []\ngroups: []\n")
    (repository / "base.yaml").write_text(ACME.replace("name: acme", "name: base"))
    more = "checkers: [acme_copied:check]\ncatalogues: [rules/own.yaml]\n"
    (repository / "fork.yaml").write_text(f"name: fork\nextends: base\ntitle: a fork\n{more}")
    load(str(repository / "base.yaml"))
    load(str(repository / "fork.yaml"))
    folder = RunFolder.create_at(tmp_path / "run")
    folder.plan.touch()
    keep_copy("fork", folder)
    shutil.rmtree(repository)
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv(CATALOGUES, "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    open_run(folder.path)
    file = load_file("fork")
    assert file.timing["lease_ms"] == ("registration.lease.timeout.ms",)
    assert file.catalogue_files == (tmp_path / "run" / "target" / "own.yaml",)
    assert len(added_checkers(file.checkers, file.beside)) == 1
