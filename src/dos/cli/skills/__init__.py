"""Verbs that list and check the skills."""
