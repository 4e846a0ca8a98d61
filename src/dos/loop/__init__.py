"""Does a loop continue after an iteration, and if not, why?"""
