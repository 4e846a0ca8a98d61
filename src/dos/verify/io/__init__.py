"""Gather from git, receipts and the CI what decides whether a unit shipped."""
