"""The two transition tables, how they are read and drawn, and which of their rows a step takes."""
