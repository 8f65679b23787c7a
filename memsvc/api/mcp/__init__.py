"""MCP: the memory as tools, resources and prompts of the Model Context Protocol.

``server.py`` puts the official SDK's server together; ``door.py`` serves it at /mcp behind the same keys as REST, and
``stdio.py`` to a program that started it. Tools call the capabilities that REST calls. A guide: docs/mcp.md.
"""
