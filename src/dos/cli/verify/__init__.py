"""Verbs that answer whether something happened."""
