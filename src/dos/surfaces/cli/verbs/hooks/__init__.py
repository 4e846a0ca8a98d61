"""What is put into other programs' hooks."""
