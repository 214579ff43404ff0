"""Defects that no scenario, checker or campaign was written for, at least five of each `Kind`.

They measure what is found without being named: a campaign with `--mutant unknown.NAME`. So no scenario is added for one
of them, and no row of `docs/mutation.md` stands for it. `unit` names a test beside this file that states what holds
without the defect; it shows that planting does change what the docstring says.
"""
