"""Agent programs that speak the Agent Client Protocol: one two-way adapter for all of them."""
