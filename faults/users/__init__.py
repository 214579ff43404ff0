"""Faults of users: they have other passwords, or are gone."""
