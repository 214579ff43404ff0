import json
import resource
import threading
from pathlib import Path

import pytest

from fencepost.results.records.events import PHASES, UnknownEvent
from fencepost.results.records.journal import JournalError, JournalWriter, being_written, read_journal


def write_three(path: Path) -> None:
    with JournalWriter(path) as journal:
        journal.write("run", "r", "begin", durable=True)
        journal.write("op", "1", "invoke", {"f": "send"}, node="node-4")
        journal.write("op", "1", "ok", {"f": "send", "offset": 7})


def test_what_is_written_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write_three(path)
    journal = read_journal(path)
    assert [(event.seq, event.type, event.phase) for event in journal.events] == [
        (0, "run", "begin"),
        (1, "op", "invoke"),
        (2, "op", "ok"),
    ]
    assert journal.events[1].node == "node-4"
    assert journal.events[2].data["offset"] == 7
    assert (journal.torn, journal.damaged) == (0, ())


@pytest.mark.parametrize("text", ["\ud800", "café 🧪", "\x00", str(10**30)])
def test_any_text_and_number_is_read_back(tmp_path: Path, text: str) -> None:
    values = {"text": text, "large": 10**30, "rest": [1e300, float("inf"), True, None]}
    with JournalWriter(tmp_path / "j") as journal:
        journal.write("op", "1", "ok", {"f": "send", **values})
    [event] = read_journal(tmp_path / "j").events
    assert event.data == {"f": "send", **values}


def test_time_starts_at_zero_with_the_writer(tmp_path: Path) -> None:
    times = iter([100.0, 100.5, 102.25])
    with JournalWriter(tmp_path / "j", monotonic=lambda: next(times), wall=lambda: 1e9) as journal:
        assert journal.write("note", "a", "seen").t == 0.5
        assert journal.write("note", "b", "seen").t == 2.25


def test_a_line_is_in_the_file_before_write_returns(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with JournalWriter(path) as journal:
        journal.write("fault", "cut", "intent", durable=True)
        assert len(read_journal(path).events) == 1


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with JournalWriter(path):
        assert being_written(path)
        with pytest.raises(JournalError, match="one writer"):
            JournalWriter(path)
    assert not being_written(path)


def test_the_journal_of_an_earlier_run_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write_three(path)
    with pytest.raises(JournalError, match="already holds"):
        JournalWriter(path)
    assert len(read_journal(path).events) == 3


def test_after_one_event_that_could_not_be_written_none_is_written(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = JournalWriter(tmp_path / "journal.jsonl")
    journal.write("note", "a", "seen")
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.write("note", "b", "seen", {"text": "x" * 400})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with pytest.raises(OSError, match="File too large"):
        journal.write("note", "c", "seen")
    journal.close()
    assert [event.id for event in read_journal(tmp_path / "journal.jsonl").events] in (["a"], ["a", "b"])


def test_an_event_after_the_end_is_refused(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j")
    journal.close()
    with pytest.raises(JournalError, match="after the run's end"):
        journal.write("note", "late", "seen")


@pytest.mark.parametrize(("event_type", "phase"), [("opp", "ok"), ("op", "okay"), ("fault", "begin")])
def test_a_misspelt_type_or_phase_is_refused(tmp_path: Path, event_type: str, phase: str) -> None:
    with JournalWriter(tmp_path / "j") as journal, pytest.raises(UnknownEvent, match=r"journal has|has no phase"):
        journal.write(event_type, "x", phase)
    assert phase not in PHASES.get(event_type, frozenset())


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with JournalWriter(path) as journal:

        def work(name: str) -> None:
            for number in range(200):
                journal.write("note", f"{name}-{number}", "seen", {"text": "x" * 200})

        threads = [threading.Thread(target=work, args=(str(each),)) for each in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    read = read_journal(path)
    assert read.damaged == ()
    assert len({event.id for event in read.events}) == 800
    assert all(earlier.t <= later.t for earlier, later in zip(read.events, read.events[1:], strict=False))


def test_every_torn_tail_is_counted_and_costs_one_line_at_most(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write_three(path)
    whole = path.read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        journal = read_journal(path)
        assert len(journal.events) == sum(end <= length for end in ends)
        assert journal.torn == (0 if length in (0, *ends) else 1)
        assert journal.damaged == ()


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write_three(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:20] + b"\n" + lines[2])
    journal = read_journal(path)
    assert [event.seq for event in journal.events] == [0, 2]
    assert [damage.line for damage in journal.damaged] == [2]


def test_a_missing_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    write_three(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    assert [str(damage) for damage in read_journal(path).damaged] == ["line 2: event 2 is in the place of event 1"]


@pytest.mark.parametrize("line", ["[]", "{}", '{"type": "op"}', "nonsense", "null", "\xff"])
def test_a_line_that_is_no_event_is_damage(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(line + "\n", encoding="latin-1")
    journal = read_journal(path)
    assert (len(journal.events), len(journal.damaged)) == (0, 1)


def test_an_event_with_an_unknown_phase_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    event = {"seq": 0, "t": 0, "wall": 0, "type": "op", "id": "1", "phase": "oky", "node": None, "data": {}}
    path.write_text(json.dumps(event) + "\n")
    assert "no phase 'oky'" in str(read_journal(path).damaged[0])


def test_a_run_is_finished_when_it_says_so(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "j") as journal:
        journal.write("run", "r", "begin")
        assert not read_journal(tmp_path / "j").finished
        journal.write("run", "r", "end")
    assert read_journal(tmp_path / "j").finished
