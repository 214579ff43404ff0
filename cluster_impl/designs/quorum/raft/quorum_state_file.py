"""The file `quorum-state` (KIP-595, Quorum State): the vote and the epoch of a voter, in Kafka's JSON."""

import json
from pathlib import Path

from cluster_impl.designs.quorum.raft.state import QuorumState
from cluster_impl.storage.checkpoints import replace_file

NAME = "quorum-state"

_NOBODY = -1


class CorruptQuorumState(Exception):
    """The file cannot be read. The text names it and says what to do."""


class QuorumStateFile:
    def __init__(self, folder: Path, cluster_id: str, voters: tuple[int, ...]) -> None:
        self.path = folder / NAME
        self._cluster_id = cluster_id
        self._voters = voters

    def read(self) -> QuorumState:
        """The initial state if there is no file yet. Raises CorruptQuorumState."""
        try:
            content = json.loads(self.path.read_text("utf-8"))
            return QuorumState(int(content["leaderEpoch"]), _known(content["votedId"]), _known(content["leaderId"]))
        except FileNotFoundError:
            return QuorumState()
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptQuorumState(
                f"{self.path} is damaged ({error!r}); without it this voter could vote twice in one epoch: "
                "empty the whole folder only if a majority of the other controllers is healthy"
            ) from error

    def write(self, state: QuorumState) -> None:
        """Durable when it returns. Raises OSError."""
        content = {
            "clusterId": self._cluster_id,
            "leaderId": _NOBODY if state.leader_id is None else state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": _NOBODY if state.voted_id is None else state.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in self._voters],
            "data_version": 0,
        }
        replace_file(self.path, json.dumps(content, separators=(",", ":")).encode())


def _known(node_id: int) -> int | None:
    return None if node_id == _NOBODY else int(node_id)
