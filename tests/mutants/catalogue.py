"""All planted defects, by name. Each is a module of this folder that has an `apply()` and its `DEFECT`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from tests.mutants.defect import Defect

_MODULES = [path for path in sorted(Path(__file__).parent.glob("*.py")) if "\ndef apply()" in path.read_text("utf-8")]
DEFECTS: Mapping[str, Defect] = {path.stem: import_module(f"tests.mutants.{path.stem}").DEFECT for path in _MODULES}
