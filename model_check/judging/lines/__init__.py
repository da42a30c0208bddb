"""Which lines of Kafka's logs a step writes."""
