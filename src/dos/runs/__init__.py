"""What a run set out to do, how far it came, and where it can resume or rewind."""
