"""The repository of the servers' tests."""

from tests.adapters.mcp.conftest import no_engines, shop

__all__ = ["no_engines", "shop"]
