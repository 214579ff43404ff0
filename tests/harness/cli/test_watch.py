"""A view in a terminal that is too small for it, with the keys of a pager."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time
from io import StringIO

from rich.console import Console, Group

from fencepost.harness.cli.watch import DOWN, END, HOME, PAGE_DOWN, UP, Window

ROWS = [f"row {number}" for number in range(40)]
PROGRAM = """
from rich.console import Console, Group
from fencepost.harness.cli.watch import watch
watch(Console(highlight=False), lambda: Group(*[f"row {number}" for number in range(40)]))
"""


def rendered(window: Window, height: int = 10) -> list[str]:
    console = Console(width=60, height=height, file=StringIO(), record=True, legacy_windows=False)
    console.print(window)
    return console.export_text().splitlines()


def test_a_small_terminal_shows_a_part_and_says_which() -> None:
    said = rendered(Window(Group(*ROWS)))
    assert len(said) == 10
    assert said[:9] == ROWS[:9]
    assert said[9].startswith("lines 1-9 of 40")


def test_every_line_is_reached_by_keys() -> None:
    window = Window(Group(*ROWS))
    seen = set(rendered(window)[:-1])
    for _ in range(5):
        window.press(PAGE_DOWN)
        seen |= set(rendered(window)[:-1])
    assert seen == set(ROWS)
    window.press(DOWN)
    assert rendered(window)[8] == "row 39"
    window.press(UP)
    assert rendered(window)[8] == "row 38"
    window.press(HOME)
    assert rendered(window)[0] == "row 0"
    window.press(END)
    assert rendered(window)[8] == "row 39"


def test_a_view_that_became_shorter_is_shown_from_its_last_page() -> None:
    window = Window(Group(*ROWS))
    rendered(window)
    window.press(END)
    window.view = Group(*ROWS[:12])
    assert rendered(window)[0] == "row 3"


def test_a_view_that_fits_needs_no_place() -> None:
    assert rendered(Window(Group(*ROWS[:3]))) == [*ROWS[:3], "q ends"]


def test_on_a_terminal_keys_scroll_and_q_ends_and_restores_it() -> None:
    own, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 60, 0, 0))
    before = termios.tcgetattr(its)
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=its, stdout=its, stderr=its, env={**environment, "TERM": "xterm"}
    )
    try:
        said = _read_until(own, "lines 1-9 of 40")
        assert "row 9" not in said
        os.write(own, b"G")
        assert "row 39" in _read_until(own, "lines 32-40 of 40")
        os.write(own, b"q")
        _read_until(own, "\x1b[?1049l")  # the screen that was there before
        assert child.wait(10) == 0
        assert termios.tcgetattr(its) == before
    finally:
        child.kill()
        child.wait()
        os.close(own)
        os.close(its)


def _read_until(terminal: int, what: str) -> str:
    said, deadline = "", time.monotonic() + 30
    while what not in said:
        assert time.monotonic() < deadline, said
        if select.select((terminal,), (), (), 0.2)[0]:
            said += os.read(terminal, 65536).decode(errors="replace")
    return said
