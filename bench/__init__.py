"""Benchmarks: figures of the installed memsvc, each with the configuration that it was measured in. Not tests."""
