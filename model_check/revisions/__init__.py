"""Two revisions of the specification, side by side: what a change did to it, and to what systems can do."""
