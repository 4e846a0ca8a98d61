"""The resident server of a workspace: hooks, MCP, events and the read verbs, on loopback only."""
