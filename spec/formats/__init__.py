"""What is stored and what travels: znode paths and payloads, requests and answers, each declared once.

A declaration is read as Kafka reads it, and printed exactly as Kafka prints it, in each version that differs.
"""
