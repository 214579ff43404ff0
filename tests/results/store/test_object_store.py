"""A store in a bucket of a real S3 server on loopback: importers at once lose and double nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.harness.targets.archives import free_port
from fencepost.results.store.check import check
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS

SERVER = shutil.which("moto_server", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
REPORT = (
    '<testsuite name="s" timestamp="2026-11-20T08:00:00Z"><testcase classname="t" name="a{}" time="1"/></testsuite>'
)
IMPORTERS = 4


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Start an S3 server, make a bucket, and return its URL; the settings are the variables that users set."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    for name, value in (
        ("AWS_ENDPOINT_URL", address),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    assert SERVER is not None
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen([SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(f"{address}/results", method="PUT"), timeout=10)
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < deadline, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
        yield "s3://results/store"
    finally:
        server.terminate()
        server.wait()


def start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([Path(sys.executable).with_name("fencepost"), "results", *words], stdout=subprocess.DEVNULL)


@pytest.mark.integration
@pytest.mark.skipif(SERVER is None, reason="there is no moto_server: pip install 'moto[server]'")
def test_importers_and_a_compaction_at_once_keep_each_result_once(bucket: str, tmp_path: Path) -> None:
    Store.create(bucket)
    for number in range(IMPORTERS):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "r.xml").write_text(REPORT.format(number))
    importers = [start("import", "junit", str(tmp_path / str(each)), "--to", bucket) for each in range(IMPORTERS)]
    compaction = start("compact", bucket)
    assert [each.wait() for each in (*importers, compaction)] == [0] * (IMPORTERS + 1)
    assert start("import", "junit", str(tmp_path / "0"), "--to", bucket).wait() == 0
    store = Store.open(bucket)
    assert sorted(store.read(RUNS, ["test"])["test"].to_pylist()) == [f"s::t::a{each}" for each in range(IMPORTERS)]
    assert not any(state.problems for state in check(store))
