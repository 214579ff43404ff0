"""The file `quorum-state` (KIP-595, Quorum State): the vote and the epoch of a voter, in Kafka's JSON."""

import json
from pathlib import Path

from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState
from fencepost.cluster_impl.storage.checkpoints import replace_file
from fencepost.cluster_impl.storage.directory import LogDirError

NAME = "quorum-state"

_NO_NODE = -1


class CorruptQuorumState(LogDirError):
    """The file cannot be read, or is gone. The message names it and says what to do."""


class QuorumStateFile:
    """The file in `folder`. `cluster_id` and `voters` are written for Kafka's format and not read."""

    def __init__(self, folder: Path, cluster_id: str, voters: tuple[int, ...]) -> None:
        self.path = folder / NAME
        self._cluster_id = cluster_id
        self._voters = voters

    def read(self, *, log_is_empty: bool) -> QuorumState:
        """Return the stored state, or the initial one if neither the file nor any record exists.

        The file is written before the first record, so it is missing beside a log with records only if it was lost.
        Raises CorruptQuorumState, OSError.
        """
        try:
            content = json.loads(self.path.read_text("utf-8"))
            return QuorumState(int(content["leaderEpoch"]), _known(content["votedId"]), _known(content["leaderId"]))
        except FileNotFoundError as error:
            if log_is_empty:
                return QuorumState()
            raise self._corrupt("missing beside a log that has records") from error
        except (ValueError, KeyError, TypeError) as error:
            raise self._corrupt(f"damaged ({error!r})") from error

    def _corrupt(self, how: str) -> CorruptQuorumState:
        return CorruptQuorumState(
            f"{self.path} is {how}; without it this voter could vote twice in one epoch: "
            "empty the whole folder only if a majority of the other controllers is healthy"
        )

    def write(self, state: QuorumState) -> None:
        """Replace the file; it is durable on return. Raises OSError."""
        content = {
            "clusterId": self._cluster_id,
            "leaderId": _NO_NODE if state.leader_id is None else state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": _NO_NODE if state.voted_id is None else state.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in self._voters],
            "data_version": 0,
        }
        replace_file(self.path, json.dumps(content, separators=(",", ":")).encode())


def _known(node_id: int) -> int | None:
    return None if node_id == _NO_NODE else int(node_id)
