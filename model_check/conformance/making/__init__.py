"""How the vectors are made: from the tables, terms and formats of the specification, and from what Kafka wrote."""
