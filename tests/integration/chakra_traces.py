"""Writes and reads Chakra traces for tests, byte by byte, without any code of Drydock."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER = 0, 2, 6, 7
COMP, SEND, RECV, COLL = 4, 5, 6, 7


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    """Returns the number at offset `at`, and the offset after the number."""
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(id, kind, name="n", deps=(), ctrl=(), us=0, values="", **attributes):
    out = field(1, id) + field(2, name.encode()) + field(3, kind)
    out += b"".join(field(4, d) for d in ctrl) + b"".join(field(5, d) for d in deps)
    if us:
        out += field(7, us)
    if values:
        out += field(8, field(1, values.encode()))
    for key, value in attributes.items():
        number = 27 if isinstance(value, bool) else 9 if isinstance(value, int) else 29
        content = int(value) if isinstance(value, (bool, int)) else value.encode()
        out += field(10, field(1, key.encode()) + field(number, content))
    return out


def stg_node(id, kind, name, deps=(), **attributes):
    """As STG's backend for Chakra 0.0.4 writes it: unsigned numbers, the dimensions as a list of booleans."""
    out = field(1, id) + field(2, name.encode()) + field(3, kind) + b"".join(field(5, d) for d in deps)
    for key, value in attributes.items():
        number = {"comm_type": 9, "comm_tag": 11, "comm_src": 11, "comm_dst": 11, "pg_name": 29}.get(key, 13)
        out += field(10, field(1, key.encode()) + field(number, value.encode() if isinstance(value, str) else value))
    if "comm_type" in attributes:
        out += field(10, field(1, b"involved_dim") + field(28, field(1, b"\1\1\1")))
    return out


def stg_trace(*nodes):
    schema = field(2, field(1, b"schema") + field(29, b"symbolic_tensor_network"))
    return b"".join(varint(len(m)) + m for m in [schema, *nodes])


def trace(*nodes):
    return b"".join(varint(len(m)) + m for m in [field(1, b"0.0.4"), *nodes])


def decoded(path):
    """The nodes of a trace, by a reader that shares nothing with the tool."""
    run = subprocess.run([sys.executable, ROOT / "core/schema/foreign/decode_et.py", path], check=True, capture_output=True)
    return [json.loads(line) for line in run.stdout.splitlines()[1:]]


class Edited:
    """A rank's trace whose nodes can be changed: their attributes and their dependencies."""

    ID, CTRL_DEPS, DATA_DEPS = 1, 4, 5

    def __init__(self, path):
        self.path, self.nodes = path, []
        data, at = path.read_bytes(), 0
        while at < len(data):
            size, at = read_varint(data, at)
            self.nodes.append(self.fields_of(data[at:at + size]))
            at += size
        self.head = self.nodes.pop(0)

    @staticmethod
    def fields_of(message):
        at, found = 0, []
        while at < len(message):
            tag, at = read_varint(message, at)
            size, at = read_varint(message, at)
            value = size
            if tag & 7 == 2:
                value, at = message[at:at + size], at + size
            found.append((tag >> 3, value))
        return found

    def make_like(self, number, other):
        """Gives the node the attributes of another node, in the same position."""
        place = (self.ID, self.CTRL_DEPS, self.DATA_DEPS)
        self.nodes[number] = [f for f in self.nodes[number] if f[0] in place] + \
                             [f for f in self.nodes[other] if f[0] not in place]

    def leave_out(self, number):
        del self.nodes[number]
        for node in self.nodes:
            for i, (name, value) in enumerate(node):
                if name == self.ID:
                    node[i] = (name, value - (value > number))
                elif name in (self.CTRL_DEPS, self.DATA_DEPS):
                    node[i] = (name, self.without(value, number))

    @staticmethod
    def without(packed, number):
        at, out = 0, b""
        while at < len(packed):
            value, at = read_varint(packed, at)
            out += varint(value - (value > number)) if value != number else b""
        return out

    def write(self):
        messages = [b"".join(field(*f) for f in node) for node in [self.head, *self.nodes]]
        self.path.write_bytes(b"".join(varint(len(m)) + m for m in messages))
