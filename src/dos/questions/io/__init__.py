"""Gathers the questions that are open now, from the journal, the plans and the leases."""
