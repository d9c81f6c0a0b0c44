"""Values that an absent rank sends and that the host of this rank branches on: objects, and shapes of messages.

A rank keeps the small ones that it sends in a folder of the capture. Ranks that run later read them there. libhackcuda does the
same for NCCL's broadcasts.
"""
import ctypes
import functools
import inspect
import os

FOLDER = os.environ.get("DRYDOCK_CAPTURE_VALUES")
MOST_BYTES = 64 << 10  # libhackcuda keeps as much


def is_small(tensor):
    return 0 < tensor.numel() * tensor.element_size() <= MOST_BYTES and tensor.is_contiguous()


def tells_shapes(tensor):
    """Programs send activations in floating point, and sizes and pickled objects in integers."""
    return not tensor.is_floating_point() and not tensor.is_complex() and is_small(tensor)


def bytes_of(tensor):
    return tensor.numel() * tensor.element_size()


def copy_value(to, source):
    ctypes.memmove(to.data_ptr(), source.data_ptr(), bytes_of(to))


class SharedValues:
    """`fingerprint` is a number for a text, the same in every process."""

    def __init__(self, module, device, mark, fingerprint):
        self.module, self.device, self.mark, self.fingerprint = module, device, mark, fingerprint
        self.counts = {}

    def next_path(self, group, source, target):
        """Where the next value from one member to another is kept. Both count all of them, since they may differ in what they take a
        message for: a sender's integer may arrive as a float.
        """
        name = f"{group.group_name} {self.module.get_process_group_ranks(group)} {source} {target}"
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return os.path.join(FOLDER, f"value-{self.fingerprint(name):016x}-{count}")

    def keep(self, tensor, path):
        part = f"{path}.{os.getpid()}"
        with open(part, "wb") as file:
            file.write(ctypes.string_at(tensor.data_ptr(), bytes_of(tensor)))
        os.replace(part, path)

    def take(self, tensor, path, group, source):
        size = bytes_of(tensor)
        self.mark(f"value {source} {group.group_name}")
        try:
            with open(path, "rb") as file:
                value = file.read()
        except OSError:
            value = b""
        if len(value) == size:
            ctypes.memmove(tensor.data_ptr(), value, size)
        else:
            self.mark(f"unknown broadcast of {size} bytes from member {source}")

    def wrap(self, name, share):
        """`share` gets the arguments by name, the group, and the other member. It does what it has to once the call has been made:
        NCCL moves no message, so that order does not matter.
        """
        module, call = self.module, getattr(self.module, name)
        signature = inspect.signature(call)
        side = "src" if "src" in signature.parameters else "dst"

        @functools.wraps(call)
        def call_and_share(*arguments, **named):
            result = call(*arguments, **named)
            self.device.hackcuda_pause_clock(1)
            try:
                given = signature.bind(*arguments, **named).arguments
                group = given.get("group") or module._get_default_group()
                if not module._rank_not_in_group(group):
                    member = given.get(f"group_{side}")
                    if member is None:
                        member = module.get_group_rank(group, given.get(side) or 0)
                    share(given, group, member)
            finally:
                self.device.hackcuda_resume_clock()
            return result

        setattr(module, name, call_and_share)

    def send(self, given, group, target):
        path = self.next_path(group, group.rank(), target)
        if tells_shapes(given["tensor"]):
            self.keep(given["tensor"], path)

    def receive(self, given, group, source):
        path = self.next_path(group, source, group.rank())
        if tells_shapes(given["tensor"]):
            self.take(given["tensor"], path, group, source)

    def broadcast(self, given, group, source):
        tensor = given["tensor"]
        if tensor.is_cuda:
            return
        path = self.next_path(group, source, "all")
        if is_small(tensor) and group.rank() == source:
            self.keep(tensor, path)
        elif is_small(tensor):
            self.take(tensor, path, group, source)

    def scatter(self, given, group, source):
        tensor, parts = given["tensor"], given.get("scatter_list") or []
        if not is_small(tensor):
            return
        if group.rank() != source:
            self.take(tensor, self.next_path(group, source, group.rank()), group, source)
            return
        for member, part in enumerate(parts):
            if member == source:
                copy_value(tensor, part)
            else:
                self.keep(part, self.next_path(group, source, member))

    def gather(self, given, group, target):
        """Each absent rank holds what this rank holds."""
        if group.rank() == target and is_small(given["tensor"]):
            for part in given.get("gather_list") or []:
                if is_small(part):
                    copy_value(part, given["tensor"])


def share_values(module, device, mark, fingerprint):
    """`module` is torch.distributed.distributed_c10d."""
    values = SharedValues(module, device, mark, fingerprint)
    if FOLDER:
        for name, share in (("send", values.send), ("isend", values.send), ("recv", values.receive), ("irecv", values.receive),
                            ("broadcast", values.broadcast), ("scatter", values.scatter)):
            values.wrap(name, share)
    values.wrap("gather", values.gather)
