"""A headless Chromium for tests of pages, driven over the pipe of its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

BINARY = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_chromium = pytest.mark.skipif(BINARY is None, reason="no chromium, chromium-browser or google-chrome is here")


class Chromium:
    """One browser with one page. No page can reach a network: every host name resolves to nothing."""

    def __init__(self) -> None:
        assert BINARY is not None
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        os.set_inheritable(there_in, True)
        os.set_inheritable(there_out, True)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        offline = "--host-resolver-rules=MAP * ~NOTFOUND"
        command = [
            BINARY,
            *flags,
            offline,
            f"--user-data-dir={self._folder.name}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        wrapped = f'exec 3<&{there_in} 4>&{there_out}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", wrapped, "bash", *command],
            pass_fds=(there_in, there_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there_in)
        os.close(there_out)
        self._to, self._from = os.fdopen(here_out, "wb"), os.fdopen(here_in, "rb")
        self._count = 0
        self._session: str | None = None
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")[
            "targetId"
        ]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and return its result. Raise RuntimeError if it fails or the browser is gone."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        self._to.write(json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0")
        self._to.flush()
        while (answer := self._read()).get("id") != self._count:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def open(
        self,
        page: Path,
        width: int,
        *,
        media: str = "screen",
        dark: bool = False,
        scripts: bool = True,
        fragment: str = "",
    ) -> None:
        """Load a page in a window of this width, and wait until it is laid out."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Page.navigate", url=page.resolve().as_uri() + fragment)
        while self._read().get("method") != "Page.loadEventFired":
            pass
        if media == "print" and scripts:
            self.value("dispatchEvent(new Event('beforeprint'))")

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression on the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def picture(self, path: Path, *, most: int = 8000) -> None:
        """Save a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], most), "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._to.close()
        self._from.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> dict[str, Any]:
        message = bytearray()
        while (byte := self._from.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("Chromium ended")
            message += byte
        parsed: dict[str, Any] = json.loads(message)
        return parsed
