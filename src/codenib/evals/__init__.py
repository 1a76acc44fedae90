"""Studies of the product on real repositories: rows and clones in, a run folder with a report out.

Top of the import order: evals may import everything, nothing imports evals. `codenib eval` reaches it by name
at run time (adapters/cli/commands/evaluate.py), so the base install never loads it.
"""
