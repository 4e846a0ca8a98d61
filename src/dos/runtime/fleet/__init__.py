"""What a supervisor sees of its fleet, and where its workers run."""
