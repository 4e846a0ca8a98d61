"""Acts that one command of a person does, apart from the fleet."""
