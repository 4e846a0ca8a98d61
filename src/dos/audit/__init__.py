"""Does a commit do what its subject says?"""
