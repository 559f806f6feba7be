"""Messages that somebody else wrote are never taken for those of a channel."""

from __future__ import annotations

import pytest

from gradtool.workers.channel import KEY_SIZE, Garbled, Reader, framed
from gradtool.workers.messages import Kill

KEY = bytes(range(KEY_SIZE))


def test_messages_are_read_in_pieces() -> None:
    sent = framed(Kill(number=1), KEY) + framed(Kill(number=2), KEY)
    reader = Reader(Kill, KEY)
    read = [message for at in range(len(sent)) for message in reader.feed(sent[at : at + 1])]
    assert [message.number for message in read] == [1, 2]


@pytest.mark.parametrize("key", [b"", KEY[:-1], KEY[:-1] + b"x", bytes(KEY_SIZE)])
def test_a_message_with_another_key_is_refused(key: bytes) -> None:
    with pytest.raises(Garbled):
        Reader(Kill, KEY).feed(framed(Kill(number=1), key))


def test_a_message_without_end_is_refused_at_its_header() -> None:
    head = framed(Kill(number=1), KEY)[:1] + b"\xff" * 4
    with pytest.raises(Garbled):
        Reader(Kill, KEY).feed(head)
