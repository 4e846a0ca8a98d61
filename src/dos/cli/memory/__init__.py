"""The verbs about the notes of agents."""
