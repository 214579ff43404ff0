"""The snapshots of a controller that runs: it writes its own, sends parts of them, and installs fetched ones."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.driver import CoreDriver
from fencepost.cluster_impl.designs.quorum.raft.listener import RaftListener
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd, FetchSnapshotRequest, FetchSnapshotResponse
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import FoundSnapshots, SnapshotFiles
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import DamagedSnapshot
from fencepost.cluster_impl.designs.quorum.raft.translate import MAX_BYTES
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


class NodeSnapshots:
    """Each takes the place of the log before its end: the file is durable before the log goes."""

    def __init__(
        self,
        files: SnapshotFiles,
        found: FoundSnapshots,
        metadata_log: MetadataLog,
        listener: RaftListener,
        driver: CoreDriver,
    ) -> None:
        """`found` are the snapshots at the start."""
        self.files = files
        self._log = metadata_log
        self._listener = listener
        self._driver = driver
        self._newest_names_voters = found.voters is not None
        self._writing = False
        if found.snapshots:
            self._load(found.snapshots[-1], found.values)

    def start_writing(self) -> None:
        """Begin to write the committed records, unless a snapshot is being written or this one would say nothing
        new."""
        core = self._driver.running
        if self._writing:
            return
        point = core.snapshot_point()
        newest = core.log.snapshots[-1].end_offset if core.log.snapshots else 0
        # Within `on_commit` the listener may have seen less than the core has committed.
        if newest < point.end_offset == self._log.delivered:
            self._writing = True
            changed = core.voters.last_offset >= 0 or self._newest_names_voters
            voters = core.voters.at(point.end_offset) if changed else None
            # The listener's state is taken now, as it is at `point`; the file is written in a thread.
            self._driver.spawn(self._write(point, self._listener.snapshot(), voters))

    async def _write(self, point: EpochEnd, values: Iterator[bytes], voters: VoterSet | None) -> None:
        log.info("began to write the snapshot at %d", point.end_offset)
        try:
            await asyncio.get_running_loop().run_in_executor(None, self.files.write, point, values, voters)
            if self._driver.core is None:
                return
            self._log.begin_segment()
        except Exception as error:
            self._driver.fail(error)
        else:
            log.info("wrote the snapshot at %d", point.end_offset)
            self._driver.input(lambda core, now: core.snapshot_written(point, now))
        finally:
            self._writing = False

    def part(self, request: FetchSnapshotRequest, response: FetchSnapshotResponse) -> FetchSnapshotResponse:
        """Return the response with the requested part, or with an error if there is none at the position."""
        size, data = self.files.read_part(request.snapshot, request.position, MAX_BYTES)
        if request.position > size:
            return replace(response, error=Error.POSITION_OUT_OF_RANGE)
        return replace(response, size=size, position=request.position, data=data)

    def install(self, snapshot: EpochEnd) -> None:
        """Put a fetched snapshot in the place of the log, and report it to the core."""
        try:
            values = self.files.install(snapshot)
        except DamagedSnapshot as error:
            log.error("the fetched snapshot %s is refused: %s", self.files.path(snapshot), error)
            self._driver.input(RaftCore.snapshot_refused)
            return
        self._log.begin_anew(snapshot)
        self.files.remove_before(snapshot)
        log.info("fetched the snapshot at %d", snapshot.end_offset)
        self._load(snapshot, values)
        voters = self.files.voters(snapshot)
        self._newest_names_voters = voters is not None
        self._driver.input(lambda core, now: core.snapshot_installed(snapshot, now, voters))

    def cut_log(self, snapshots: Sequence[EpochEnd]) -> None:
        """Remove the log before the first of `snapshots`, and all earlier snapshots."""
        begin = self._log.cut_before(snapshots[0].end_offset)
        log.info("the metadata log is cut behind the snapshot at %d; it begins at %d", snapshots[0].end_offset, begin)
        self.files.remove_before(snapshots[0])

    def _load(self, snapshot: EpochEnd, values: Sequence[bytes]) -> None:
        log.info("loaded the snapshot at %d: %d records", snapshot.end_offset, len(values))
        self._listener.on_snapshot(values, snapshot.end_offset)
