"""What would go wrong at three in the morning: one file for each subject, findings as values."""
