"""Q5: what context policies cost in tokens, and what they do to the answers."""
