"""Certificates that tests make for themselves, by the program `openssl`."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """A private key and a certificate that signs itself, in PEM files."""

    keystore: Path
    """Key and certificate."""
    certificate: Path

    def trusting(self) -> ssl.SSLContext:
        """Return the TLS of a client that trusts the certificate and does not look at the name in it."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.check_hostname = False
        return context


def certificate(folder: Path, subject: str, *addresses: str) -> Certificate:
    """Make a certificate for a subject, such as `/O=shop/CN=alice`, and for these IP addresses."""
    name = subject.rpartition("=")[2]
    key, made, keystore = (folder / f"{name}.{suffix}" for suffix in ("key", "crt", "pem"))
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", subject, "-keyout", str(key), "-out", str(made)]
    if addresses:
        command += ["-addext", "subjectAltName=" + ",".join(f"IP:{address}" for address in addresses)]
    subprocess.run(command, check=True, capture_output=True)
    keystore.write_bytes(key.read_bytes() + made.read_bytes())
    return Certificate(keystore, made)
