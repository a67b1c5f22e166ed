"""Run the worked example as a program of its own and see that it prints what the seed
text prints.
"""
