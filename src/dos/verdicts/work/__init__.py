"""Did it happen?"""
