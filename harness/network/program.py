"""The command line of a Toxiproxy, on this machine or in a pod, where there is nothing but the standard library."""

from __future__ import annotations

from fencepost.harness.network.addresses import Endpoint

PROGRAM = "toxiproxy-server"
RELEASE = "2.12.0"
"""The release that is tested; that of the Makefile."""
WITH_MESSAGES = f"{RELEASE}+messages"
"""The version that the server in `faults/messages/toxiproxy` names: that release, with toxics that know messages."""
_MODULE = "github.com/Shopify/toxiproxy/v2"
BUILD = (
    f'GOBIN="$HOME/.local/bin" go install -ldflags "-X {_MODULE}.Version={RELEASE}" {_MODULE}/cmd/server@v{RELEASE} '
    '&& export FENCEPOST_TOXIPROXY="$HOME/.local/bin/server"'
)
"""The command that builds it anywhere and makes it known. Some module proxies have an older release as `@latest`."""
GET = f"with Go: {BUILD}; or put the {PROGRAM} of release {RELEASE} on the PATH, or name it in FENCEPOST_TOXIPROXY"


def server_options(api: Endpoint) -> list[str]:
    return ["-host", api.host, "-port", str(api.port)]
