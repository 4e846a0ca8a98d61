"""Runs tests in temporary trees of commits, and reads what was recorded of them."""
