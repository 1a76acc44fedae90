"""Policies that choose how to search and what context to keep: estimated, simulated, fitted, activated."""
