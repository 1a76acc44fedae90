"""The MCP server: over stdio for one client, over HTTP for many."""
