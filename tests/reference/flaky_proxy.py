"""A TCP proxy in front of a ZooKeeper server, whose connections can be held and cut as a bad network would.

`cut` drops every connection; until `let_in`, new ones are refused. `hold_answers` keeps back what the server sends, so
that an operation is carried out and its answer lost in the next cut; `hold_requests` what the client sends, so that an
operation is lost before it is carried out.
"""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class FlakyProxy:
    """Listens on a free port of the loopback interface and passes everything on to another port."""

    def __init__(self, target_port: int) -> None:
        self._target = ("127.0.0.1", target_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._is_open = True
        self._answers_pass, self._requests_pass = threading.Event(), threading.Event()
        self._answers_pass.set()
        self._requests_pass.set()
        self.holds_a_request = threading.Event()

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def cut(self) -> None:
        """Drop all connections and let none in."""
        with self._lock:
            self._is_open = False
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._answers_pass.set()
        self._requests_pass.set()
        self.holds_a_request.clear()

    def let_in(self) -> None:
        """Accept connections again."""
        with self._lock:
            self._is_open = True

    def hold_answers(self) -> None:
        """Keep back what the server sends, until the connections are cut."""
        self._answers_pass.clear()

    def hold_requests(self) -> None:
        """Keep back what clients send, until the connections are cut; `holds_a_request` is set once there is any."""
        self._requests_pass.clear()

    def _start(self, work: object, *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with self._lock:
                    if not self._is_open:
                        client.close()
                        continue
                    server = socket.create_connection(self._target)
                    self._sockets |= {client, server}
                self._start(self._pass_on, client, server, False)
                self._start(self._pass_on, server, client, True)

    def _pass_on(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        """Copy one direction until an end is closed; both ends of a connection close together."""
        with suppress(OSError):
            while content := source.recv(65536):
                passes = self._answers_pass if is_answer else self._requests_pass
                if not passes.is_set():
                    if not is_answer:
                        self.holds_a_request.set()
                    passes.wait()
                    break
                target.sendall(content)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        if is_answer:
            with self._lock:
                self._sockets -= {source, target}
        # Each direction closes the socket that it reads; the other direction may still be reading the other one.
        source.close()
