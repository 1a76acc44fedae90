"""A repository's own history and its agents' traces in, what makes its answers better out."""
