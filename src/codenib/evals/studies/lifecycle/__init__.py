"""What it costs to materialize, load and serve views over a trace of requests."""
