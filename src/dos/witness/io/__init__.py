"""Reads evidence from places that the claimant did not write."""
