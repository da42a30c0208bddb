"""The public face of the reference: a controller's module, a broker, or a whole cluster, by plain calls and JSON."""
