"""What is drawn on a terminal while something goes on."""
