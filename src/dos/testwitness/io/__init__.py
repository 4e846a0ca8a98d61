"""Runs tests on throw-away copies of what was committed, and reads what was recorded of them."""
