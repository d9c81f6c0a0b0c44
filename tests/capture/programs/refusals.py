"""Calls every function of CUDA's libraries that a capture does not know: each refuses, and writes nothing."""
import ctypes
import os
import pathlib
import re

import torch

GUARD, BYTES, ARGUMENTS = b"\x5a", 256, 24
torch.cuda.init()
folder = pathlib.Path(os.environ["LD_LIBRARY_PATH"].split(":")[0])
for source in sorted(folder.glob("sources/*.c")):
    file_name = source.name.removeprefix("of-").removesuffix(".c")
    library = ctypes.CDLL(str(folder / file_name))
    text = source.read_text()
    refusing = re.findall(r"long (\w+)\(void\) \{ return hackcuda_refuse\(\"[^\"]+\", \"(\w+)\", (\d+)\)", text)
    texts = re.findall(r"const char\* (\w+)\(void\)", text)
    assert len(refusing) + len(texts) == text.count("(void) {"), source
    wrong = []
    for name, said, status in refusing:
        buffers = [ctypes.create_string_buffer(GUARD * BYTES, BYTES) for _ in range(ARGUMENTS)]
        function = getattr(library, name)
        function.restype = ctypes.c_long
        answer = function(*buffers)
        if said != name or status == "0" or answer != int(status) or any(buffer.raw != GUARD * BYTES for buffer in buffers):
            wrong.append(name)
    for name in texts:
        getattr(library, name).restype = ctypes.c_char_p
        if getattr(library, name)(1) != b"not available in a capture":
            wrong.append(name)
    print(file_name.split(".so")[0], "refuses" if refusing else "knows all", wrong)

# What this machine has installed besides is out of reach.
try:
    ctypes.CDLL("libcudart.so.13" if torch.version.cuda.startswith("12") else "libcudart.so.12")
except OSError as error:
    print("other-version", "cannot be loaded" if str(folder) in str(error) else error)
