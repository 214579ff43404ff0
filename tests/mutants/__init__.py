"""Defects planted in the reference cluster, one a module: `apply()` replaces one function of the running process.

`FENCEPOST_MUTANT=no_self_fence python -m tests.mutants.run NODE.properties` runs a node with a defect. The cluster's
own code knows nothing of this; a suite that stays green with a mutant has a hole.
"""
