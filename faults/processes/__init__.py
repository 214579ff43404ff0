"""Faults of whole processes: killed, stopped, restarted."""
