"""Is a test red without a change and green with it?"""
