"""The command `fencepost`."""


def main() -> None:
    raise SystemExit(2)
