"""What to do about it: decisions and the actions they are made of. Pure."""
