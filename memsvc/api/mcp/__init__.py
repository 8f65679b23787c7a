"""MCP: memory as tools, resources and prompts of the Model Context Protocol.

``server.py`` builds the server with the official SDK. ``door.py`` serves it at /mcp with the same keys as REST, and
``stdio.py`` serves it to the program that started the process. Tools call the same capabilities as REST. The guide is
docs/mcp.md.
"""
