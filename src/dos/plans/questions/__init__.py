"""The questions that only a person can answer, one class each."""
