"""All planted defects, by name. Each is a module that has an `apply()` and its `DEFECT`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from tests.mutants.defect import Defect

_ROOT = Path(__file__).parents[2]


def _defects_in(folder: Path) -> Mapping[str, Defect]:
    modules = [path for path in sorted(folder.glob("*.py")) if "\ndef apply()" in path.read_text("utf-8")]
    package = ".".join(folder.relative_to(_ROOT).parts)
    defects: list[Defect] = [import_module(f"{package}.{path.stem}").DEFECT for path in modules]
    return {defect.name: defect for defect in defects}


DEFECTS = _defects_in(Path(__file__).parent)
"""Those that scenarios are named for: they hold the suites to what they found once."""
UNKNOWN = _defects_in(Path(__file__).parent / "unknown")
"""Those that nothing outside was written for: they measure what is found without being named."""
