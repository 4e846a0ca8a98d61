"""Export and import, and the logs of released versions."""
