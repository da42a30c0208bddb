"""The values that both ZooKeepers take: what is a path, what may be written, and what an error is."""

import pickle
import re
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kazoo.exceptions import BadArgumentsError, ZookeeperError
from kazoo.protocol import serialization

from reference.live.zookeeper import LiveZookeeper
from reference.zookeeper import api
from reference.zookeeper.api import (
    REFUSALS,
    BadVersion,
    ConnectionLoss,
    Create,
    CreateMode,
    Delete,
    Exists,
    GetChildren,
    NodeExists,
    NoNode,
    OperationRefused,
    SessionExpired,
    SessionTrouble,
    SetData,
    check_path,
    parent_path,
)
from reference.zookeeper.server import ZookeeperServer

pytestmark = pytest.mark.xdist_group("zookeeper")


class RawReply(Future[Any]):
    def set(self, value: Any) -> None:
        self.set_result(value)


@pytest.fixture(scope="module")
def client(zookeeper_server: ZookeeperServer) -> Any:
    with LiveZookeeper(zookeeper_server.address) as client:
        yield client


def real_server_takes(client: LiveZookeeper, path: str) -> bool:
    """Whether a real server finds the path of a znode to be written well-formed, whatever else it misses."""
    reply = RawReply()
    client._client.send(serialization.SetData(path, b"", 99), reply)
    match reply.exception(10):
        case BadArgumentsError():
            return False
        case None | ZookeeperError():
            return True
        case other:
            raise AssertionError(other)


@settings(max_examples=3 * settings().max_examples)
@given(
    st.text(
        "/.ab\0\x1f\x20\x7e\x7f\x9f\xa0\ud7ff\ue000\uf8ff\uf900\uffef\ufff0\uffff\U00010000", min_size=1, max_size=6
    )
)
@example("/")
@example("/a/")
@example("//a")
@example("/a/../b")
@example("/a/...")
@example("/\ud7ff")
@example("/\ue000")
@example("/\uf900\uffef")
@example("a")
def test_a_path_is_what_a_real_server_takes_for_one(client: LiveZookeeper, path: str) -> None:
    if real_server_takes(client, path):
        check_path(path)
    else:
        with pytest.raises(ValueError, match=re.escape(repr(path))):
            check_path(path)


def test_operations_check_their_paths() -> None:
    for operation in (Exists, GetChildren, Create, Delete):
        with pytest.raises(ValueError, match="must start with '/'"):
            operation("brokers")
    with pytest.raises(ValueError, match="empty or relative component"):
        Create("/brokers/")
    assert Create("/brokers/", mode=CreateMode.PERSISTENT_SEQUENTIAL).path == "/brokers/"
    assert Create("/", mode=CreateMode.EPHEMERAL_SEQUENTIAL).path == "/"


@pytest.mark.parametrize("path", ["/", "/zookeeper", "/zookeeper/quota"])
def test_the_servers_own_tree_is_not_written(path: str) -> None:
    assert Exists(path).path == path
    for write in (lambda: Create(path), lambda: SetData(path, b""), lambda: Delete(path)):
        with pytest.raises(ValueError, match="is the server's own"):
            write()
    assert Create("/zookeepers").path == "/zookeepers"


def test_the_parent_of_a_path() -> None:
    assert [parent_path(path) for path in ("/a", "/a/b", "/a/b/c")] == ["/", "/a", "/a/b"]


def test_the_kinds_of_create() -> None:
    kinds = {mode.name: (mode.is_ephemeral, mode.is_sequential) for mode in CreateMode}
    assert kinds == {
        "PERSISTENT": (False, False),
        "EPHEMERAL": (True, False),
        "PERSISTENT_SEQUENTIAL": (False, True),
        "EPHEMERAL_SEQUENTIAL": (True, True),
    }


def test_errors_are_values() -> None:
    assert NoNode("/a") == NoNode("/a") != NoNode("/b")
    assert NoNode("/a") != NodeExists("/a")
    assert len({NoNode("/a"), NoNode("/a"), BadVersion("/a")}) == 2
    assert pickle.loads(pickle.dumps(BadVersion("/a"))) == BadVersion("/a")  # noqa: S301  # our own bytes
    assert str(ConnectionLoss("/a")) == "ConnectionLoss for /a"


def test_a_refusal_is_sure_and_the_rest_is_trouble() -> None:
    assert {refusal.__name__: code for code, refusal in REFUSALS.items()} == {
        "NoNode": -101,
        "BadVersion": -103,
        "NoChildrenForEphemerals": -108,
        "NodeExists": -110,
        "NotEmpty": -111,
    }
    assert set(REFUSALS.values()) == set(OperationRefused.__subclasses__())
    assert set(SessionTrouble.__subclasses__()) == {ConnectionLoss, SessionExpired}


def test_the_tree_of_errors_is_drawn_in_the_module() -> None:
    drawn = (api.__doc__ or "").split("::")[1]
    errors = [name for name, value in vars(api).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(errors) == 10
    assert [name for name in errors if name not in drawn] == []
