"""Text as people and terminals get it. No I/O."""
