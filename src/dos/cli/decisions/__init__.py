"""Verbs that list, show, add and answer what needs a person."""
