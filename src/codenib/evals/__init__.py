"""Studies of the product on real repositories: rows and clones in, a run folder with a report out.

evals may import everything; only the command line above it (codenib/__main__.py) imports evals, and only when
`codenib eval` runs, so no other command loads it.
"""
