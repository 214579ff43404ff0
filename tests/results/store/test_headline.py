"""The headline of a failure is the line that says what failed, as each runner writes it."""

from __future__ import annotations

import pytest

from fencepost.results.store.headline import headline, last_line

JEST = "Error: expected 1, got 2\n    at Object.toBe (/x/a.test.js:6:58)\n    at processTicks (node:internal/p:105:5)"
PHP = "T::php\nexpected 1, got 2\n\n/x/T.php:5"
GO = "=== RUN   TestGo\n    a_test.go:12: expected 1, got 2\n--- FAIL: TestGo (0.00s)\n"
RUST = "thread 't::a' (7) panicked at src/lib.rs:5:9:\nexpected 1, got 2\nnote: run with `RUST_BACKTRACE=1`"
PYTHON = 'Traceback (most recent call last):\n  File "t.py", line 5, in a\n    f()\nValueError: expected 1, got 2'
JVM = "java.lang.AssertionError: expected 1, got 2\n\tat org.T.a(T.java:5)\n\tat java.base/x.Y.z(Native Method)"
CATCH = "\nFAILED:\nexpected 1, got 2\nat c2.cc:7\n"
GOOGLE = "unknown file\nexpected 1, got 2"
BATS = (
    "(from function `lost' in file a.bats, line 2,\n in test file a.bats, line 8)\n  `lost' failed\nexpected 1, got 2"
)
PLAYWRIGHT = "\n  a.spec.ts:3:1 › opens\n\n    Error: expected 1, got 2\n      at /x/a.spec.ts:4:5"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (None, JEST),
        (None, PHP),
        ("Failed", GO),
        ("thread 't::a' (7) panicked at src/lib.rs:5:9", RUST),
        (None, PYTHON),
        ("null", JVM),
        (None, CATCH),
        (GOOGLE, GOOGLE),
        (None, BATS),
        ("a.spec.ts:3:1 opens", PLAYWRIGHT),
        ("runs 1, 2, 3 summary:", "expected 1, got 2"),
        ("expected 1, got 2\n + where 1 = f()", "x"),
    ],
)
def test_the_headline_says_what_failed(message: str | None, text: str) -> None:
    assert headline(message, text, ("t::php",)).endswith("expected 1, got 2")


def test_a_failed_matcher_says_the_values() -> None:
    text = "Error: expect(received).toBe(expected)\n\nExpected: 3\nReceived: 5\n\n  4 |  expect(lost).toBe(3)"
    for message in (None, "Error: expect(received).toBe(expected)"):
        assert headline(message, text) == "Error: expect(received).toBe(expected), Expected: 3, Received: 5"


def test_words_that_look_like_frames_are_none() -> None:
    assert headline("at least one broker (of 3) has to serve", None) == "at least one broker (of 3) has to serve"
    assert headline("Failed", "") == "" and last_line("a\nb\n\n") == "b"
