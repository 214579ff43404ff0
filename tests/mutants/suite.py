"""A pytest plugin: the conformance suite starts its nodes of the reference cluster with a planted defect.

FENCEPOST_MUTANT=no_self_fence python -m pytest suites/kip_631 -p tests.mutants.suite -k cut-from-controllers
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.targets import quorum, zk_controller

ROOT = Path(__file__).parents[2]


def pytest_configure() -> None:
    quorum.PROGRAM = zk_controller.PROGRAM = "tests.mutants.run"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
