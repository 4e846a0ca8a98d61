"""The verbs of lanes and their leases."""
