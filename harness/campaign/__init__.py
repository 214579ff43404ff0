"""Campaigns: random plans, drawn from what target and backend are capable of, run one after another or side by side.

`planner.draw` makes a plan of a seed. Nothing is random after that: the plan is a file like any other. `campaign` runs
many of them and goes on after a failure; `coverage` counts which fault met whom in which state.
"""
