"""The verb that serves MCP."""
