"""Kinds of sources: each module reads the files of one program. docs/sources.md says how to write one."""
