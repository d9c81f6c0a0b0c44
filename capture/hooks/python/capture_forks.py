"""Ranks that are forks of one process, which runs the program up to where it asks for its rank.

Python asks libhackcuda to become a rank there: where the program reads a variable that ranks differ in, or all of them, and where
it starts a thread or a process, which a fork would not have.
"""
import ctypes
import functools
import os
import sys

library = ctypes.PyDLL("libhackcuda.so")  # does not give up Python's lock
library.hackcuda_serve_forks.restype = library.hackcuda_become_rank.restype = ctypes.c_void_p
actions = []  # what is to be done in a rank
OTHER_NAMES = {"networkx.utils.backends"}  # modules that go through all variables for names of their own: NETWORKX_...
replaced = []  # (holder, name, what it was)


def texts_at(address):
    """Texts that each end with a zero; the last one is empty."""
    while text := ctypes.string_at(address):
        yield text
        address += len(text) + 1


def become_rank():
    if not replaced:
        return
    variables = library.hackcuda_become_rank()
    for holder, name, function in replaced:
        setattr(holder, name, function)
    replaced.clear()
    for text in texts_at(variables):
        name, _, value = text.partition(b"=")
        os.environ[os.fsdecode(name)] = os.fsdecode(value)
    for action in actions:
        action()


def in_rank(action):
    """Does this in a rank: at once, unless ranks will be forks of this process."""
    if replaced:
        actions.append(action)
    else:
        action()


def seed_anew():
    """Numbers that the program does not seed differ between ranks."""
    for name in "random", "numpy.random":
        if name in sys.modules:
            sys.modules[name].seed()


def replace(holder, name, is_of_rank=lambda *_: True):
    function = getattr(holder, name)

    @functools.wraps(function)
    def become_and_call(*arguments, **named):
        if is_of_rank(*arguments):
            become_rank()
        return function(*arguments, **named)

    replaced.append((holder, name, function))
    setattr(holder, name, become_and_call)


def is_of_rank(*_):
    """Whether whoever goes through all variables may look for the rank."""
    frame = sys._getframe(2)
    while frame.f_globals.get("__name__") in ("os", "collections.abc"):
        frame = frame.f_back
    return frame.f_globals.get("__name__") not in OTHER_NAMES


def serve():
    address = library.hackcuda_serve_forks()
    if not address:
        return
    names = set(texts_at(address))
    names |= set(map(os.fsdecode, names))
    del os.environ["DRYDOCK_CAPTURE_FORKS"]
    variables = type(os.environ)
    for name in "__getitem__", "__setitem__", "__delitem__":
        replace(variables, name, lambda _, key, *__: key in names)
    for name in "__iter__", "__len__", "__repr__":
        replace(variables, name, is_of_rank)
    import _posixsubprocess
    import _thread

    for holder, name in ((_posixsubprocess, "fork_exec"), (os, "fork"), (os, "forkpty"), (os, "posix_spawn"), (os, "posix_spawnp"),
                         (os, "system"), (_thread, "start_new_thread"), (_thread, "start_new")):
        replace(holder, name)
    if "threading" in sys.modules:
        replace(sys.modules["threading"], "_start_new_thread")
    in_rank(seed_anew)


serve()
