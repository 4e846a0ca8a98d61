"""Limits and costs as the journal tells them."""
