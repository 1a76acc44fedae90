"""Questions to many repositories: summaries, routing, fan-out, one ranked answer that says whom it asked."""
