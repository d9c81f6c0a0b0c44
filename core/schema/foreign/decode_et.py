"""Prints a Chakra execution trace as JSON lines.

Parses the published wire format without Drydock's .proto file, so that a mistake in that file or in
the writer shows in the output.
"""

import json
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """Yields (field number, value) of one message: an int, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field runs over the end"
        else:
            raise ValueError(f"wire type {tag & 7} is used nowhere in our traces")
        yield tag >> 3, value


def varints(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(signed(value))
    return values


ATTRIBUTE = {7: signed, 9: signed, 13: int, 27: bool, 29: bytes.decode,
             10: lambda data: [v for _, packed in fields(data) for v in varints(packed)]}


def attribute(data):
    name = value = None
    for number, content in fields(data):
        if number == 1:
            name = content.decode()
        else:
            value = ATTRIBUTE[number](content)
    return name, value


def node(data):
    out = {"id": 0, "attr": {}, "ctrl_deps": [], "data_deps": []}
    for number, content in fields(data):
        if number in (1, 3):
            out[{1: "id", 3: "type"}[number]] = content
        elif number == 2:
            out["name"] = content.decode()
        elif number == 7:
            out["duration_micros"] = content
        elif number in (4, 5):
            out[{4: "ctrl_deps", 5: "data_deps"}[number]] += varints(content)
        elif number == 10:
            name, value = attribute(content)
            out["attr"][name] = value
        else:
            raise ValueError(f"unknown field {number} of a node")
    return out


def main():
    data, at, first = open(sys.argv[1], "rb").read(), 0, True
    while at < len(data):
        size, at = varint(data, at)
        message, at = data[at:at + size], at + size
        assert len(message) == size, "a message runs over the end"
        if first:
            print(json.dumps({"version": dict(fields(message))[1].decode()}))
        else:
            print(json.dumps(node(message), sort_keys=True))
        first = False


main()
