"""Agent programs that print what they do and ask nothing."""
