"""Agent programs that ask before they act: one pure module for each, and what they share."""
