"""What Kafka writes down: the lines of state-change.log, controller.log and kafka-request.log, each declared once.

One declaration of a line's text prints it for the reference and parses it back from a real cluster's file.
"""
