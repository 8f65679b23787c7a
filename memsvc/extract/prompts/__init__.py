"""What language models are asked: a module for each task, with its version, rules, examples and counter-examples.

A version goes up with every change that could change an answer; it is part of the extractor's name, so that what an
older one read can be told apart and read again.
"""
