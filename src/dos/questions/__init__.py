"""The questions that only a person can answer, one class each, and what has been answered."""
