"""Learned ranking: what every view says of a candidate in, one order of units and files out."""
