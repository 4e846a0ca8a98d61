"""What can go wrong, one file for each subject, findings as values."""
