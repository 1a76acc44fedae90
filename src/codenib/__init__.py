"""CodeNib serves repository context to coding agents."""

__version__ = "0.1.0"
