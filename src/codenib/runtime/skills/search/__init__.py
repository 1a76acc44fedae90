"""Ranked search over the units of the snapshot."""
