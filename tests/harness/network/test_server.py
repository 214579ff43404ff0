"""The harness says where it looks for a Toxiproxy, and what is wrong with one that is too old."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from fencepost.harness.doctor import programs
from fencepost.harness.doctor.mechanism import Diagnosis, Mechanism, diagnose
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network import server
from fencepost.harness.network.program import BUILD, RELEASE, WITH_MESSAGES
from fencepost.harness.network.server import find_toxiproxy

ROOT = Path(__file__).parents[3]
SERVER = """\
#!{python}
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write({answer!r})
    def log_message(self, *_): pass
http.server.HTTPServer((sys.argv[2], int(sys.argv[4])), Handler).serve_forever()
"""
"""It answers as release 2.5.0 does with `git`, and 2.12.0 that was built without -ldflags with JSON."""


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installed package, on a machine without any Toxiproxy."""
    monkeypatch.setattr(server, "BESIDE_THE_PROJECT", None)
    monkeypatch.delenv("FENCEPOST_TOXIPROXY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_the_release_is_the_one_that_make_builds() -> None:
    sources = ROOT / "faults/messages/toxiproxy"
    assert f"github.com/Shopify/toxiproxy/v2 v{RELEASE}\n" in (sources / "go.mod").read_text()
    assert f'const version = "{WITH_MESSAGES}"\n' in (sources / "main.go").read_text()
    assert BUILD.count(RELEASE) == 2


@pytest.mark.usefixtures("installed")
def test_an_installed_package_says_where_it_looked_and_how_to_build_one() -> None:
    with pytest.raises(InfrastructureError) as missing:
        find_toxiproxy()
    said = str(missing.value)
    assert said.startswith("FENCEPOST_TOXIPROXY is not set, and there is no toxiproxy-server on the PATH. ")
    assert BUILD in said
    assert not re.search(r"make|site-packages|\.tools", said)
    row = diagnose(Mechanism("toxiproxy", programs.toxiproxy, "lost", server.how_to_get()))
    assert row.how == "FENCEPOST_TOXIPROXY is not set, and there is no toxiproxy-server on the PATH"
    assert BUILD in row.remedy


def test_a_source_tree_names_its_make_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "BESIDE_THE_PROJECT", ROOT / ".tools/bin/none")
    assert server.how_to_get().startswith(f"by `make conformance` in {ROOT}; or with Go: ")


def _with(answer: bytes, path: Path, monkeypatch: pytest.MonkeyPatch) -> Diagnosis:
    """Return what doctor says of a server that gives this answer."""
    path.write_text(SERVER.format(python=sys.executable, answer=answer))
    path.chmod(0o755)
    monkeypatch.setenv("FENCEPOST_TOXIPROXY", str(path))
    return diagnose(Mechanism("toxiproxy", programs.toxiproxy, "lost", server.how_to_get()))


@pytest.mark.integration
@pytest.mark.usefixtures("installed")
def test_a_release_that_answers_git_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = _with(b"git", tmp_path / "server", monkeypatch)
    assert not row.available
    assert row.how.startswith(f"{tmp_path / 'server'} is of another release: the server at 127.0.0.1:")
    assert "answers 'git'" in row.how and f"release {RELEASE} is needed" in row.how


@pytest.mark.integration
@pytest.mark.usefixtures("installed")
def test_a_release_that_was_built_without_its_version_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    row = _with(b'{"version": "git"}', tmp_path / "server", monkeypatch)
    assert row.available
    assert "its version is 'git': it was built without -ldflags, so its release is not known" in row.how
