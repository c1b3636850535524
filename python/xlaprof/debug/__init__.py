"""Modules with the names of torch_xla.debug, for programs that run without torch_xla."""
