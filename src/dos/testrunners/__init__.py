"""Test runners: the commands that start them, and the settings that they read."""
