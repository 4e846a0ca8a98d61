"""Is it getting anywhere?"""
