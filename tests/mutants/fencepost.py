"""The command, on clusters with a planted defect: nodes of the reference cluster run as `tests.mutants.run`.

    export FENCEPOST_MUTANT=acknowledged_before_isr
    python -m tests.mutants.fencepost run tests/mutants/twelve_faults.yaml
    python -m tests.mutants.fencepost shrink RUN

Of the twelve faults that lose records, a kill of the leader alone is left: what it had acknowledged too early is lost
with it. That took 17 runs and 18 minutes, on two cores that were busy with other things; so this is no test.

A campaign runs each plan in a process of its own, with healthy nodes: to let one find a defect, make it in the source.
"""

from __future__ import annotations

from harness.cli.main import main
from tests.mutants.suite import pytest_configure as run_nodes_with_a_defect

if __name__ == "__main__":
    run_nodes_with_a_defect()
    main()
