"""The releases of a registry, as Maven tells them: with a stand-in for Maven that writes what Maven writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.maven import published

MAVEN = """#!{python}
import pathlib
folder = pathlib.Path({repository!r}, *{group!r}.split("."), {name!r})
assert "<version>[999999,)</version>" in pathlib.Path("pom.xml").read_text()
print("[DEBUG] Using local repository at {repository}")
if {versions!r} is not None:
    folder.mkdir(parents=True, exist_ok=True)
    listed = "".join(f"<version>{{each}}</version>" for each in {versions!r})
    text = f"<metadata><versioning><versions>{{listed}}</versions></versioning></metadata>"
    (folder / "maven-metadata-near.xml").write_text(text)
    print("[INFO] Downloaded from near: file:/there/{name}/maven-metadata.xml (2.0 kB at 4 kB/s)")
else:
    print("[WARNING] Could not transfer metadata {name}/maven-metadata.xml from/to near: no route to host")
print("[\\x1b[1;31mERROR\\x1b[m] Failed to execute goal: No versions available")
raise SystemExit(1)
"""


ARTIFACT = ("org.acme", "broker")


def stand_in_for_maven(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    versions: list[str] | None,
    artifact: tuple[str, str] = ARTIFACT,
) -> None:
    """Put an `mvn` on the PATH whose registry has these versions of an artifact; None: it reaches none."""
    group, name = artifact
    program = folder / "bin" / "mvn"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        MAVEN.format(
            python=sys.executable,
            repository=str(folder / "repository"),
            versions=versions,
            group=group,
            name=name,
        ),
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


def test_releases_come_in_the_order_of_their_numbers_and_without_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in_for_maven(tmp_path, monkeypatch, ["1.10.0", "1.9.0", "2.0.0-rc1", "1.9.1", "odd"])
    assert published(*ARTIFACT) == ["1.9.0", "1.9.1", "1.10.0"]


def test_what_was_read_earlier_does_not_stand_for_a_registry_that_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in_for_maven(tmp_path, monkeypatch, ["1.9.0"])
    published(*ARTIFACT)
    stand_in_for_maven(tmp_path, monkeypatch, None)
    with pytest.raises(InfrastructureError, match=re.escape("no route to host. Let Maven reach one")):
        published(*ARTIFACT)


def test_without_maven_no_registry_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfrastructureError, match="mvn is not on the PATH"):
        published(*ARTIFACT)
