"""The line of a log that says why a node ended, or does not answer."""

from __future__ import annotations

import pytest

from fencepost.faults.last_words import last_error, last_words, reason_for_end

KAFKA = (
    "[2026-01-01 00:00:00,000] INFO starting (kafka.Server)",
    "[2026-01-01 00:00:01,000] ERROR Encountered a fatal fault: no magic (org.apache.kafka.FaultHandler)",
    "java.lang.RuntimeException: no magic",
    "\tat org.apache.kafka.Reader.read(Reader.java:7)",
    "\tSuppressed: java.lang.RuntimeException: no magic either",
    "\t\tat org.apache.kafka.Reader.read(Reader.java:9)",
    "[2026-01-01 00:00:02,000] INFO shut down (kafka.Server)",
)
PYTHON = (
    "started",
    "Traceback (most recent call last):",
    '  File "x.py", line 1',
    "    read()",
    "ValueError: no magic",
)
GO = ("listening", "panic: no magic", "", "goroutine 1 [running]:", "main.main()")


@pytest.mark.parametrize(
    ("lines", "error"),
    [(KAFKA, KAFKA[1]), (PYTHON, PYTHON[-1]), (GO, GO[1]), (("a", "cannot open it", "bye"), "cannot open it")],
)
def test_the_last_line_that_is_an_error_is_found_in_the_log_of_any_server(lines: tuple[str, ...], error: str) -> None:
    assert last_error(lines) == error


def test_a_log_without_an_error_has_none() -> None:
    assert last_error(["it starts", "it serves"]) == ""


def test_the_last_words_leave_stacks_out() -> None:
    assert last_words(KAFKA) == (*KAFKA[:3], KAFKA[-1])


REFUSAL = "data belongs to node.id 4, this node has 8; set another log.dirs"
INFO = "2026-11-27 22:56:47,956 INFO [broker 4] u-1: leads at leader epoch 0"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([INFO, REFUSAL], REFUSAL),
        ([INFO, "ERROR no disk", REFUSAL], "ERROR no disk"),
        ([REFUSAL, INFO], ""),
        ([INFO, "level=info msg=bye"], ""),
        ([], ""),
    ],
)
def test_a_plain_last_line_is_the_reason_for_an_end(lines: list[str], reason: str) -> None:
    assert reason_for_end(lines) == reason
