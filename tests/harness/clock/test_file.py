"""The file that a wall clock obeys: one setting counts at a time, and each begins without traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.clock.file import SETTINGS, ClockFile


@pytest.fixture
def file(tmp_path: Path) -> ClockFile:
    made = ClockFile(tmp_path / "clock")
    made.make()
    return made


def test_a_new_file_leaves_the_machine_s_time_as_it_is(file: ClockFile) -> None:
    found = file.setting()
    assert (found.offset_ns, found.rate_ppm, found.query_count) == (0, 0, 0)


def test_the_last_setting_counts_however_many_there_were(file: ClockFile) -> None:
    for number in range(3 * SETTINGS):
        file.set(-number, number)
        assert (file.setting().offset_ns, file.setting().rate_ppm) == (-number, number)


def test_a_file_that_is_there_is_left_as_it_is(file: ClockFile) -> None:
    file.set(5, 0)
    file.make()
    assert file.setting().offset_ns == 5


def test_every_user_may_map_it(file: ClockFile) -> None:
    assert file.path.stat().st_mode & 0o666 == 0o666


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clock").write_bytes(bytes(8192))
    with pytest.raises(ValueError, match="is no file of a node's wall clock"):
        ClockFile(tmp_path / "clock").setting()
