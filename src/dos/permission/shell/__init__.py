"""What a shell command writes, as far as that can be read without running it."""
