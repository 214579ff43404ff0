"""Mutants: defects that are planted in the reference cluster. Each module's `apply()` replaces one function.

`FENCEPOST_MUTANT=no_self_fence fencepost run cut-from-controllers-cut` runs a scenario with a defect: the harness
starts nodes of the reference cluster as `python -m tests.mutants.run NODE.properties`. The cluster's own code knows
nothing of this; a suite that stays green with a mutant has a hole. A plan in which shrinking has something to do:

    export FENCEPOST_MUTANT=acknowledged_before_isr
    fencepost run tests/mutants/twelve_faults.yaml
    fencepost shrink RUN

The smallest of the twelve faults that still loses records is a kill of the leader: the records that it acknowledged too
early are lost with it. Shrinking took 17 runs and 18 minutes on two busy cores, so this is no test.
"""
