"""The one line in Kafka's logs that is not Kafka's: log4j says that a logger was registered with JMX.

    preRegister called. Server=com.sun.jmx.mbeanserver.JmxMBeanServer@63947c6b, name=log4j:logger=kafka.controller

It appears in the file of that logger. Source: `org.apache.log4j.jmx.AbstractDynamicMBean.preRegister`, log4j 1.2.
"""

from typing import Final

from spec.formats.templates import Shape, Shapes
from spec.logs.log_lines import Line

SHAPES: Final[Shapes] = {
    "server": Shape("Java object", r"[\w.$]+@[0-9a-f]+", str, str),
    "name": Shape("name of a logger", r"[\w.$]+", str, str),
}


class LoggerRegistered(
    Line, text="preRegister called. Server={server}, name=log4j:logger={registered:name}", level="DEBUG"
):
    """A logger is a JMX bean now, and says so itself."""

    shapes = SHAPES

    registered: str

    @property
    def logger(self) -> str:
        """The logger that was registered."""
        return self.registered
