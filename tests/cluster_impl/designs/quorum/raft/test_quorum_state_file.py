import errno
from pathlib import Path

import pytest

from fencepost.cluster_impl.designs.quorum.raft.quorum_state_file import CorruptQuorumState, QuorumStateFile
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState


@pytest.mark.parametrize("state", [QuorumState(), QuorumState(7, voted_id=2), QuorumState(8, 1, leader_id=3)])
def test_what_was_written_is_read_again(tmp_path: Path, state: QuorumState) -> None:
    QuorumStateFile(tmp_path, "c", (1, 2, 3)).write(state)
    assert QuorumStateFile(tmp_path, "c", (1, 2, 3)).read(log_is_empty=False) == state


def test_a_new_voter_begins_in_epoch_0_without_a_vote(tmp_path: Path) -> None:
    assert QuorumStateFile(tmp_path, "c", (1,)).read(log_is_empty=True) == QuorumState(0, None, None)


def test_without_the_file_a_voter_that_has_a_log_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    with pytest.raises(CorruptQuorumState, match="could vote twice"):
        QuorumStateFile(tmp_path, "c", (1,)).read(log_is_empty=False)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"leaderEpoch": 1'])
def test_a_damaged_file_is_not_taken_for_a_new_voter(tmp_path: Path, content: str) -> None:
    file = QuorumStateFile(tmp_path, "c", (1,))
    file.path.write_text(content)
    with pytest.raises(CorruptQuorumState, match="could vote twice"):
        file.read(log_is_empty=True)


def test_a_vote_that_cannot_be_renamed_is_an_error_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, old = QuorumStateFile(tmp_path, "c", (1, 2, 3)), QuorumState(4, voted_id=2)
    file.write(old)

    def refused(self: Path, target: Path) -> Path:
        raise OSError(errno.EIO, "refused")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(OSError, match="refused"):
        file.write(QuorumState(5, voted_id=3))
    assert file.read(log_is_empty=False) == old
