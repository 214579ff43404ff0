"""Faults of links: bytes that do not arrive, arrive late, or arrive in part."""
