"""Witnesses: what the claimant did not write."""
