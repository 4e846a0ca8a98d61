"""Shipped to users: scripted agents, the demonstration and the simulator."""
