"""The history view: the commits that lead to a snapshot, what each touched, what changes together."""
