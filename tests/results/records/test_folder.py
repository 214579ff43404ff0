import json
from datetime import date
from pathlib import Path

import pytest

from fencepost.results.records.folder import FolderError, Manifest, RunFolder, short_digest

DAY = date(2026, 11, 21)


def test_a_folder_is_named_by_day_and_plan_and_never_shared(tmp_path: Path) -> None:
    names = [RunFolder.create(tmp_path / "runs", "7f3c9a21" + "0" * 56, DAY).name for _ in range(3)]
    assert names == ["2026-11-21-7f3c9a21", "2026-11-21-7f3c9a21-2", "2026-11-21-7f3c9a21-3"]


def test_a_new_run_is_refused_in_a_taken_folder(tmp_path: Path) -> None:
    RunFolder.create_at(tmp_path / "run")
    with pytest.raises(FolderError, match="exists"):
        RunFolder.create_at(tmp_path / "run")


def test_only_a_folder_with_a_plan_is_opened(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"no plan\.yaml"):
        RunFolder.open(tmp_path)
    (tmp_path / "plan.yaml").write_text("format: fencepost-plan/2\n")
    assert RunFolder.open(tmp_path).journal == tmp_path / "journal.jsonl"


def manifest() -> Manifest:
    return Manifest(
        run="2026-11-21-7f3c9a21",
        scenario="cut",
        target="apache-kafka",
        target_version="4.3.1",
        backend="process",
        seed=1,
        plan_hash="7f3c9a21",
        started=1.5,
        machine={"cpus": "2"},
    )


def test_a_manifest_is_read_back(tmp_path: Path) -> None:
    manifest().save(tmp_path / "manifest.json")
    assert Manifest.load(tmp_path / "manifest.json") == manifest()
    assert [each.name for each in tmp_path.iterdir()] == ["manifest.json"]


def test_a_manifest_from_before_identities_is_read(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    manifest().save(path)
    added = ("programs", "target_digest", "target_commit", "planted_defect", "planted_nodes", "ci")
    path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key not in added}))
    assert Manifest.load(path) == manifest()


def test_a_digest_is_shown_by_its_first_digits() -> None:
    assert short_digest("sha256:" + "0b3f" * 16) == "0b3f0b3f0b3f"


@pytest.mark.parametrize("change", [{"format": "other/9"}, {"surprise": 1}])
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "manifest.json"
    manifest().save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FolderError, match=r"has the format|unknown fields"):
        Manifest.load(path)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "fencepost-run/2"}', '{"format": "fencepost-run/2", "run": 3}']
)
def test_what_cannot_be_read_of_a_run_is_none(tmp_path: Path, content: str) -> None:
    folder = RunFolder(tmp_path)
    assert (folder.try_manifest(), folder.try_verdict()) == (None, None)
    folder.manifest.write_text(content)
    folder.verdict.write_text(content)
    assert (folder.try_manifest(), folder.try_verdict()) == (None, None)
