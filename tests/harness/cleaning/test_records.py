"""The records of what a run made outside its folder."""

from pathlib import Path

from fencepost.harness.processes.resources import RESOURCES, TOKEN_LABEL, ResourceRecords, read_resources


def test_an_intent_is_on_disk_before_anything_is_made(tmp_path: Path) -> None:
    stamp = ResourceRecords(tmp_path).intend("mount", "/somewhere", node="node-4")
    [resource] = read_resources(tmp_path)
    assert (resource.kind, resource.id, resource.token) == ("mount", "/somewhere", stamp.token)
    assert resource.details == {"node": "node-4"}


def test_the_stamp_of_a_resource_is_its_own(tmp_path: Path) -> None:
    records = ResourceRecords(tmp_path)
    first, second = records.intend("container", "a"), records.intend("container", "b")
    assert first.labels[TOKEN_LABEL] != second.labels[TOKEN_LABEL]
    assert first.fsname != second.fsname


def test_what_is_known_later_is_added_and_what_is_gone_is_left_out(tmp_path: Path) -> None:
    records = ResourceRecords(tmp_path)
    for name in ("a", "b"):
        records.intend("container", name)
        records.made("container", name, container=f"id of {name}")
    records.gone("container", "a")
    assert [(each.id, each.details) for each in read_resources(tmp_path)] == [("b", {"container": "id of b"})]


def test_the_same_name_may_be_made_anew(tmp_path: Path) -> None:
    records = ResourceRecords(tmp_path)
    records.intend("network", "n")
    records.gone("network", "n")
    again = records.intend("network", "n")
    assert [each.token for each in read_resources(tmp_path)] == [again.token]


def test_a_file_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    records = ResourceRecords(tmp_path)
    records.intend("mount", "/one")
    with (tmp_path / RESOURCES).open("ab") as file:
        file.write(b'{"phase": "intent", "kind": "mount", "id"\n\xff\xfe\n[1]\n{"phase": "intent", "kind": "mount"}\n')
    records.intend("mount", "/two")
    with (tmp_path / RESOURCES).open("a") as file:
        file.write('{"phase": "gone", "kind": "mount", "id": "/t')
    assert [each.id for each in read_resources(tmp_path)] == ["/one", "/two"]


def test_a_run_that_made_nothing_has_no_records(tmp_path: Path) -> None:
    assert read_resources(tmp_path) == []
