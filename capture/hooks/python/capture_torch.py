"""What PyTorch is told of the ranks that are absent: the rendezvous has happened, every rank has joined its groups, and each
absent rank holds what this rank holds.
"""
import ctypes
import inspect
import os

RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
KEY_BYTES, ID_BYTES = 8, 128  # of ncclUniqueId

device = ctypes.CDLL("libhackcuda.so")
device.hackcuda_name_key.argtypes = [ctypes.c_uint64, ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t]
device.hackcuda_expect_group.argtypes = [ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t]
device.hackcuda_mark.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def mark(text):
    data = text.encode()
    device.hackcuda_mark(data, len(data))


def integers(ranks):
    return (ctypes.c_int32 * len(ranks))(*ranks)


class Groups:
    """The process groups of the program, by the name that PyTorch gives them."""

    def __init__(self):
        self.ranks = {}

    def add(self, name, ranks):
        self.ranks[name] = list(ranks)

    def of_key(self, key):
        """The ranks of the communicator whose unique id the store has under this key: "default_pg/0//GROUP//cuda//NUMBER" of a
        whole group ("default_pg/0//cuda//NUMBER" of the world), "...//A:B" of its members A and B.
        """
        parts = key.split("//")
        if len(parts) < 3:
            return None
        ranks = self.ranks.get(parts[-3].split("/")[-1])
        pair = parts[-1].split(":")
        if ranks is not None and len(pair) == 2:
            return [ranks[int(member)] for member in pair]
        return ranks


groups = Groups()


def fnv(text):
    """A number for a text, the same in every process: FNV-1a."""
    number = 0xCBF29CE484222325
    for byte in text.encode():
        number = (number ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return number


def name_unique_id(key, value):
    ranks = groups.of_key(key)
    if ranks is not None:
        device.hackcuda_name_key(int.from_bytes(value[:KEY_BYTES], "little"), integers(ranks), len(ranks))


def replace_rendezvous(module):
    import torch.distributed as dist

    class AbsentStore(dist.Store):
        """A store in which the absent ranks have done what the program waits for."""

        def __init__(self):
            super().__init__()
            self.kept = {}

        def set(self, key, value):
            value = value if isinstance(value, bytes) else str(value).encode()
            self.kept[key] = value
            if len(value) == ID_BYTES:
                name_unique_id(key, value)

        def get(self, key):
            if key not in self.kept:
                # Only one kind of value is read that an absent rank has set: NCCL's unique id.
                value = fnv(key).to_bytes(KEY_BYTES, "little").ljust(ID_BYTES, b"\0")
                name_unique_id(key, value)
                self.kept[key] = value
            return self.kept[key]

        def add(self, key, number):
            value = int(self.kept.get(key, b"0")) + number
            self.kept[key] = str(value).encode()
            return value

        def compare_set(self, key, expected, desired):
            expected = expected if isinstance(expected, bytes) else expected.encode()
            if self.kept.get(key, b"") == expected:
                self.set(key, desired)
            return self.kept.get(key, b"")

        def wait(self, keys, timeout=None):
            pass

        def check(self, keys):
            return all(key in self.kept for key in keys)

        def delete_key(self, key):
            return self.kept.pop(key, None) is not None

        def num_keys(self):
            return len(self.kept)

        def append(self, key, value):
            self.kept[key] = self.kept.get(key, b"") + (value if isinstance(value, bytes) else value.encode())

        def multi_get(self, keys):
            return [self.get(key) for key in keys]

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        def has_extended_api(self):
            return False

        def set_timeout(self, timeout):
            pass

        def clone(self):
            return self

    store = AbsentStore()
    module.TCPStore = lambda *arguments, **named: store
    dist.TCPStore = module.TCPStore
    module.capture_store = store  # Python's part of it has to live as long as C++'s


def replace_groups(module):
    from torch._C._distributed_c10d import FakeProcessGroup

    # Connections of Gloo to absent ranks cannot be made. Its collectives leave each buffer alone.
    FakeProcessGroup._set_sequence_number_for_group = lambda self: None

    class IsFake(type):
        def __instancecheck__(cls, group):
            return isinstance(group, FakeProcessGroup)

    class AbsentGloo(metaclass=IsFake):
        def __new__(cls, store, rank, size, *arguments, **named):
            make = getattr(FakeProcessGroup, "_create_internal", FakeProcessGroup)
            return make(rank, size)

    module.ProcessGroupGloo = AbsentGloo

    def tell(make, ranks_of):
        """Wraps a function that makes a group: libhackcuda learns who is in it."""
        signature = inspect.signature(make)

        def make_and_tell(*arguments, **named):
            given = signature.bind(*arguments, **named).arguments
            ranks = ranks_of(given)
            if ranks is None:
                return make(*arguments, **named)
            if given.get("group_name") is not None:
                groups.add(given["group_name"], ranks)
            device.hackcuda_expect_group(integers(ranks), len(ranks))
            try:
                made = make(*arguments, **named)
            finally:
                device.hackcuda_expect_group(None, 0)
            group = made[0] if isinstance(made, tuple) else made
            name = getattr(group, "group_name", given.get("group_name"))
            if name:
                groups.add(name, ranks)
                words = [given.get("group_desc") or given.get("group_description") or "", *map(str, ranks)]
                mark(f"group {name} " + " ".join(words))
            return made

        return make_and_tell

    def ranks_of_helper(given):
        return list(given.get("global_ranks_in_group") or range(WORLD))

    def ranks_of_split(given):
        return next((list(ranks) for ranks in given.get("split_ranks") or [] if RANK in ranks), None)

    module._new_process_group_helper = tell(module._new_process_group_helper, ranks_of_helper)
    if hasattr(module, "split_group"):
        module.split_group = tell(module.split_group, ranks_of_split)


def load_observer(module):
    path = os.environ.get("DRYDOCK_CAPTURE_OBSERVER")
    if path:
        module.capture_observer = ctypes.CDLL(path)


ACTIONS = {
    "torch": load_observer,
    "torch.distributed.rendezvous": replace_rendezvous,
    "torch.distributed.distributed_c10d": replace_groups,
}
