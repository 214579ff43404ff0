"""A run as people see it: one HTML page, and a few lines for a terminal. Made from plan, journal and verdict alone."""

from harness.report.page import write_report
from harness.report.text import summarise

__all__ = ["summarise", "write_report"]
