"""Gathers the evidence of an audit from git."""
