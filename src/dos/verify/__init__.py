"""Did a unit ship, and does the commit do what it says?"""
