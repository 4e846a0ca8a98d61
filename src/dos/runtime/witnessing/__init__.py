"""Runs tests on throw-away copies of what was committed, and tells how they came out."""
