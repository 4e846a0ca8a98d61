"""How did it end, and where does it go on?"""
