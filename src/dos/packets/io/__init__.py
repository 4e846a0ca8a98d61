"""Gathers packets and keeps their files."""
