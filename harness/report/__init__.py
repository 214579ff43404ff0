"""A run for readers: one HTML page, and a few lines for a terminal, made from plan, journal and verdict."""

from fencepost.harness.report.page import write_report
from fencepost.harness.report.text import summarise

__all__ = ["summarise", "write_report"]
