"""An image is built when, and only when, something that goes into it has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.harness.backends.docker.images import AGENT, DOCKERFILES, Image, modules_of
from fencepost.harness.backends.docker.wheels import ROOT


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "node.py"
    path.write_text("print('a node')")
    return path


def _tag(path: Path, base: str = "debian", **changed: object) -> str:
    return Image("reference", "a node", {"code/node.py": path}, **changed).tag(base)  # type: ignore[arg-type]


def test_a_tag_follows_from_content_place_base_and_arguments(source: Path) -> None:
    tag = _tag(source)
    assert tag.startswith("fencepost-reference:")
    assert _tag(source, base="python") != tag
    assert _tag(source, arguments=(("KAFKA_VERSION", "4.3.1"),)) != tag
    assert Image("reference", "a node", {"code/other.py": source}).tag("debian") != tag
    assert Image("pod", "a pod", {"code/node.py": source}).tag("debian") != tag
    source.write_text("print('another node')")
    assert _tag(source) != tag


def test_a_tag_does_not_depend_on_where_and_when_the_files_were_made(source: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "node.py"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(source.read_bytes())
    os.utime(elsewhere, (1, 1))
    assert _tag(elsewhere) == _tag(source)


def test_the_agent_of_a_pod_needs_nothing_but_python_and_the_files_that_are_copied(tmp_path: Path) -> None:
    for path in modules_of(AGENT):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {AGENT}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["pod", "reference", "apache-kafka", "zookeeper", "spark"])
def test_every_image_has_a_base_of_ones_own_choice_an_unprivileged_user_and_a_health_check(kind: str) -> None:
    text = (DOCKERFILES / kind / "Dockerfile").read_text()
    assert text.count("ARG BASE=") == 1
    assert "FROM ${BASE}" in text
    assert "USER 10001:10001" in text.rpartition("COPY")[2]
    assert "HEALTHCHECK" in text
