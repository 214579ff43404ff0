"""The reference cluster needs nothing but the four dependencies of the package (decision 0078)."""

from __future__ import annotations

import ast
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "interactive.md"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_the_dependencies_are_what_the_reference_cluster_imports() -> None:
    packages = {
        name.partition(".")[0] for path in (ROOT / "cluster_impl").rglob("*.py") for name in imported(path)
    } - sys.stdlib_module_names
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=]", dependency)[0].replace("-", "_") for dependency in declared}
    assert packages == {*names, "fencepost"}


@pytest.mark.integration
def test_the_documented_file_starts_a_cluster_of_one_process_without_the_harness(tmp_path: Path) -> None:
    (properties,) = re.findall(r"```properties\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "node.properties").write_text(properties.replace("127.0.0.1", "127.77.78.1"))
    (tmp_path / "data").mkdir()
    alone = tmp_path / "fencepost"
    alone.mkdir()
    (alone / "__init__.py").touch()
    (alone / "cluster_impl").symlink_to(ROOT / "cluster_impl")
    node = subprocess.Popen(
        [sys.executable, "-m", "fencepost.cluster_impl", "node.properties"],
        cwd=tmp_path,  # in front of the installed package
        stderr=subprocess.PIPE,
        text=True,
    )
    assert node.stderr is not None
    try:
        assert any("this broker is ACTIVE" in line for line in node.stderr), "the node has ended"
        node.send_signal(signal.SIGTERM)
        node.communicate(timeout=30)
    finally:
        node.kill()
        node.wait()
    assert node.returncode == 0
