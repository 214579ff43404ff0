"""Run folders to publish: copies of a saved run in which a cluster lost records."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.reproduction.rechecking import recheck
from fencepost.results.records.folder import RunFolder

ARCHIVE = Path(__file__).parent.parent / "saved_runs" / "two-leaders-loss.tar.xz"
CopyRun = Callable[..., RunFolder]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Return a judged run with a violation."""
    path = tmp_path_factory.mktemp("saved")
    shutil.unpack_archive(ARCHIVE, path)
    folder = RunFolder.open(path / ARCHIVE.name.removesuffix(".tar.xz"))
    recheck(folder).now.save(folder.verdict)
    return folder


@pytest.fixture
def copy_run(saved: RunFolder) -> CopyRun:
    """Return a function that copies the saved run to a path, with other values in its manifest."""

    def copy(to: Path, **manifest: Any) -> RunFolder:
        shutil.copytree(saved.path, to, ignore=shutil.ignore_patterns("nodes"))
        folder = RunFolder(to)
        values = json.loads(folder.manifest.read_text())
        folder.manifest.write_text(json.dumps(values | {"run": to.name} | manifest))
        return folder

    return copy
