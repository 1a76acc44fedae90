"""Q2: what building and searching vectors costs, exact and approximate."""
