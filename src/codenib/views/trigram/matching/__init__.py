"""Matching texts against a pattern: here, or in worker processes that are killed at their deadline."""
