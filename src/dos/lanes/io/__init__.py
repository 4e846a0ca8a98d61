"""Gathers what decisions about lanes need, and holds leases."""
