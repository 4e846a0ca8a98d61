"""The tables that say what is believed."""
