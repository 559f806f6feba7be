"""A pipe for messages, each between a header with its length and an end mark.

Bytes of a message that was cut off, or that somebody else wrote, are never taken for one. The key
of a channel, which nobody else knows, is a part of each header.
"""

from __future__ import annotations

import socket
import struct
from typing import Any, Generic, TypeVar

import msgspec

VERSION = 1
"""Version of the framing. Both ends have the same one unless a cluster mixes installations."""

T = TypeVar("T")

_HEAD = struct.Struct(">BI")
_MARK = b"\x1e\n"
_LARGEST = 2**28
"""Bytes of a message at most: the matrices of a report take far less."""

KEY_SIZE = 16
_CHUNK = 2**16


class Garbled(Exception):  # noqa: N818 - the state of a channel
    """The bytes that arrived are no message."""


def framed(message: object, key: bytes = b"") -> bytes:
    """Encode a message with its header, which ends with the key, and end mark."""
    try:
        body = msgspec.msgpack.encode(message, enc_hook=_plain)
    except UnicodeEncodeError:  # A lone surrogate, as in the name of a file or in a user's text.
        body = msgspec.msgpack.encode(_encodable(msgspec.to_builtins(message, enc_hook=_plain)))
    return _HEAD.pack(VERSION, len(body)) + key + body + _MARK


def _plain(value: object) -> object:
    """Convert an array library's scalar to Python's, a complex number to its text.

    The user's text may be of a class derived from str.
    """
    if isinstance(value, str):
        return str.__str__(value)
    return str(value) if isinstance(value, complex) else value.item()  # type: ignore[attr-defined]


def _encodable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _encodable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(entry) for entry in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


class Reader(Generic[T]):
    """Assembles messages from bytes as they arrive."""

    def __init__(self, kind: type[T], key: bytes = b"") -> None:
        """Read messages that are one of the structs of the union `kind`."""
        self._key = key
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[T]:
        """The messages that are complete with `data`.

        Raises:
            Garbled: The bytes are no messages of this version.
        """
        self._bytes += data
        messages = []
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> T | None:
        if len(self._bytes) < _HEAD.size:
            return None
        version, size = _HEAD.unpack_from(self._bytes)
        # A stray byte in the header would announce a body that never arrives.
        if version != VERSION or size > _LARGEST:
            raise Garbled
        start = _HEAD.size + len(self._key)
        if not self._key.startswith(self._bytes[_HEAD.size : start]):
            raise Garbled
        end = start + size
        if len(self._bytes) < end + len(_MARK):
            return None
        if self._bytes[end : end + len(_MARK)] != _MARK:
            raise Garbled
        body = bytes(self._bytes[start:end])
        del self._bytes[: end + len(_MARK)]
        try:
            return self._decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Garbled from error


class Channel(Generic[T]):
    """One end of a socket, for a process that does nothing else while it waits."""

    def __init__(self, end: socket.socket, kind: type[T], key: bytes = b"") -> None:
        """Send any message over `end` with the key, receive those of the union `kind`."""
        self._end = end
        self._key = key
        self._reader = Reader(kind)
        self._arrived: list[T] = []

    def send(self, message: object) -> None:
        """Send one message.

        Raises:
            OSError: The other end is gone.
        """
        self._end.sendall(framed(message, self._key))

    def receive(self) -> T | None:
        """The next message; None when the other end is closed.

        Raises:
            Garbled: The bytes that arrived are no message.
        """
        while not self._arrived:
            data = self._end.recv(_CHUNK)
            if not data:
                return None
            self._arrived = self._reader.feed(data)
        return self._arrived.pop(0)
