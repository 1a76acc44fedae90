"""Callers, callees, dependencies, and the shortest path between two symbols."""
