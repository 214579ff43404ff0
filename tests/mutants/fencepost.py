"""The command, on clusters with a planted defect: nodes of the reference cluster run as `tests.mutants.run`.

    export FENCEPOST_MUTANT=acknowledged_before_isr
    python -m tests.mutants.fencepost run tests/mutants/twelve_faults.yaml
    python -m tests.mutants.fencepost shrink RUN

Of twelve faults the failure needs two: fetches are held back, and the leader is killed meanwhile. Shrinking finds that
in about twenty minutes on two idle cores; this is no test for that reason.
"""

from __future__ import annotations

import sys

from harness.cli.main import main
from tests.mutants.suite import pytest_configure as run_nodes_with_a_defect

if __name__ == "__main__":
    run_nodes_with_a_defect()
    sys.exit(main())
