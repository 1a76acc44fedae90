"""Compiling a fleet: what is out of date in, published views out, on one machine or on Ray."""
