"""Where in the text the evidence stands: scores by depth, and whether depth matters."""
