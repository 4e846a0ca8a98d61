"""Folders of notes, and what git and the files say about a note."""
