"""Findings by hand: why no black box can see a defect, and the root of each alarm on a healthy cluster."""

from __future__ import annotations

from collections.abc import Mapping

UNSEEN_BECAUSE: Mapping[str, str] = {
    "high_watermark_above_cut_log": "A log is cut below its high watermark only if its leader lost committed records, "
    "and then the loss is what shows: no fault that a design tolerates does that",
    "committed_metadata_truncated": "It takes a majority of controllers that lost records which they had flushed: no "
    "fault that the design tolerates does that, and without it no leader lacks what is committed",
}
"""The reason for each defect that survives, without a full stop."""

ALARM_ROOTS: Mapping[str, str] = {
    "seed 500000003": "A mistake of the harness, mended: a clone of a live directory had checkpoints that were copied "
    "after the logs, and the original had written on in between.",
    "seed 700000003": "A mistake of the harness, mended: it began the partitions of a member of a group in several "
    "assignments, and the client library went back to an earlier offset.",
}
"""The root of each alarm, by the seed of its plan."""
