"""The mutation run: each planted defect against unit tests, scenarios and campaigns; `make mutation`.

The record `trials.jsonl` grows by a line for each trial, so a run that is ended goes on where it stood. From the record
the run writes `docs/mutation.md`.
"""
