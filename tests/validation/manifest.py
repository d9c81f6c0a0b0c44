"""Reads the memory of ranks from RUN/1-workload/manifest.pb (core/schema/artefacts/artefacts.proto), without protobuf."""
NOT_PYTORCH = {"nccl", "cuda context", "deepep buffers"}  # parts that PyTorch's allocator does not hold
CLASS_OF_RANK, CLASSES = 10, 11  # fields of the manifest
MEMORY = 3  # of a class
NAME, BYTES = 1, 2  # of a part


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(data):
    """Yields (number, value) of a message: integers, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at:at + size], at + size
        yield number, value


def classes_of_ranks(data):
    """Returns the class of each rank."""
    found = []
    for number, value in fields(data):
        if number == CLASS_OF_RANK and isinstance(value, int):
            found.append(value)
        elif number == CLASS_OF_RANK:  # packed
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                found.append(one)
    return found


def allocated(data):
    """Returns the bytes that PyTorch allocates at the peak, by class."""
    found = []
    for number, value in fields(data):
        if number == CLASSES:
            parts = [dict(fields(part)) for field, part in fields(value) if field == MEMORY]
            found.append(sum(part.get(BYTES, 0) for part in parts if part[NAME].decode() not in NOT_PYTORCH))
    return found


def peak_memory(path):
    """Returns the GiB that PyTorch allocates at the peak, of the fullest, the first and the last rank; nothing if there is no
    manifest or no memory in it."""
    data = path.read_bytes() if path.exists() else b""
    by_class, class_of_rank = allocated(data), classes_of_ranks(data)
    if not by_class or not class_of_rank:
        return {}
    found = {"fullest": max(by_class), "first": by_class[class_of_rank[0]], "last": by_class[class_of_rank[-1]]}
    return {rank: round(size / 2**30, 4) for rank, size in found.items()}
