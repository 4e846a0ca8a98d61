"""Plans and settings that a person approved."""
