"""What people watch and read of a fleet."""
