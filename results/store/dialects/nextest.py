"""cargo-nextest (0.9.148): each attempt has its own time stamp and time."""

from __future__ import annotations

from fencepost.results.store.dialects.dialect import Dialect, ReportFile


class Nextest(Dialect):
    runner = "nextest"
    again = "{once}cargo nextest run {name}"
    lost = ("ignored tests: they are not in the file",)

    def recognizes(self, report: ReportFile) -> bool:
        root = report.root
        return root.tag == "testsuites" and (root.get("name") == "nextest-run" or "uuid" in root.attrib)
