"""Shipped to users: scripted agents and the demonstration."""
