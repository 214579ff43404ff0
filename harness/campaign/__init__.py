"""Campaigns: random plans of all that target and backend are capable of, run one after another or side by side.

`planner.generate` makes a plan from a seed. Nothing is random after that: the plan is a file like any other. `campaign`
runs many of them and goes on after a failure; `coverage` counts the roles and states of the nodes that faults hit.

Plans are made of *features* (`features.py`), each of one of four kinds and all with one interface:

- faults: `fencepost.faults`, by `Fault.generate`;
- `operations`: requests of an administrator, subclasses of `Operation` with `generate(rng, script)`;
- `situations`: faults that hit while something is going on, subclasses of `Situation` with `add(script)`;
- `workloads`: kinds of clients, subclasses of `WorkloadFeature` with `apply(rng, cluster, workload)`.

A new feature is one class with a `name` and a `weight` in a module of its package; it is found there. `script.Script`
holds the steps so far and the state of the cluster after them, and decides what may overlap and what is claimed.
"""
