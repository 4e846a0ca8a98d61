"""Reads of the outside: git, processes, files, plan documents."""
