"""Topics and partitions come to be; topics vanish by hand, and come again."""
