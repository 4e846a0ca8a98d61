"""Test witnesses: whether a test fails without a change and passes with it."""
