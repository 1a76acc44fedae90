"""Substring and regex search over raw text: a trigram filter, verified line by line."""
