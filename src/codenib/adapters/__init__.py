"""Ways in: parse, call serving, render. No decisions."""
