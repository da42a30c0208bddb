"""Topics and partitions come to be."""
