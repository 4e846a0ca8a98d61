"""What a run set out to do, and how far it came."""
