"""Witnesses: what evidence proves, by who could have written it."""
