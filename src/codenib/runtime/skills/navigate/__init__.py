"""Definitions and references from the graph, or from language servers."""
