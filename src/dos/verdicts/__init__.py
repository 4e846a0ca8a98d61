"""What is true? Pure answers from evidence; nothing here reads or acts."""
