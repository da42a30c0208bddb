"""The engine that steps on plain states: the rules of spec, read anew for numbers."""
