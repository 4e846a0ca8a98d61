"""Running real agent programs against the scripted model, apart from all that is the user's."""
