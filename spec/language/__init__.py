"""The modelling layer: terms, typed views of the state, lists of brokers in bits, and rules."""
