"""The table of verbs: names, help lines, permissions and effects, and nothing that is run."""
