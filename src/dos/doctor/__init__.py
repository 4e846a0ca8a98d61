"""What would go wrong at three in the morning: looks at every subject, and repairs what it may."""
