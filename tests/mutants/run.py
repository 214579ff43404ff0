"""Run one node with the defect that FENCEPOST_MUTANT names, or without any if it is not set."""

from __future__ import annotations

import sys

from fencepost.cluster_impl.__main__ import main
from tests.mutants.planting import plant


def run() -> int:
    name = plant()
    if name:
        print(f"this node runs with the defect {name}", file=sys.stderr)
    return main()


if __name__ == "__main__":
    sys.exit(run())
