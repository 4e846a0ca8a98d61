"""What people are shown, as values; every surface renders the same ones."""
