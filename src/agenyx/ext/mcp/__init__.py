"""A small client for MCP servers over stdio. Importing it costs nothing: the modules are taken one by one."""
