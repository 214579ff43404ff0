from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from fencepost.cluster_impl.wire import batches as format_


def test_records_have_values_and_no_keys(tmp_path: Path) -> None:
    log = MetadataLog(tmp_path / "log")
    log.append_records(0, 1, [b"first", b"second"])
    (batch,) = format_.split(log.read(0, 2))
    assert [(each.key, each.value) for each in format_.parse(batch)] == [(None, b"first"), (None, b"second")]
    log.close()
