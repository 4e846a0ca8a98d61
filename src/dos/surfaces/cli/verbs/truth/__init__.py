"""Did it happen, and how do we know: one file a verb."""
