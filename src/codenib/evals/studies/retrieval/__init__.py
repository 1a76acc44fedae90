"""Q1: what ranked search finds, how fast, and what its views cost to build."""
