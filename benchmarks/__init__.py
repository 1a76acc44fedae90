"""Speed, as ratios from one run, each beside the check that both sides did equal work."""
