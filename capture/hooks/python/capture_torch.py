"""What PyTorch is told of the ranks that are absent: the rendezvous has happened, every rank has joined its groups, and each
absent rank holds what this rank holds.
"""
import ast
import atexit
import builtins
import collections
import ctypes
import functools
import importlib
import importlib.machinery
import inspect
import itertools
import mmap
import os
import platform
import re
import sys
import tempfile
import textwrap
import weakref

from capture_values import share_values

RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
LOCAL_RANK, LOCAL_WORLD = int(os.environ.get("LOCAL_RANK", "0")), int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
KEY_BYTES, ID_BYTES = 8, 128  # of ncclUniqueId
OBSERVER = os.environ.get("DRYDOCK_CAPTURE_OBSERVER")  # empty: a run that measures the host, and marks nothing

device = ctypes.CDLL("libhackcuda.so")
device.hackcuda_name_key.argtypes = [ctypes.c_uint64, ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t, ctypes.c_char_p]
device.hackcuda_expect_group.argtypes = [ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t, ctypes.c_char_p]
device.hackcuda_mark_group.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t]
device.hackcuda_mark.argtypes = device.hackcuda_set_line.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
device.hackcuda_name.argtypes, device.hackcuda_name.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_int64
device.hackcuda_works.restype = ctypes.c_int64
device.hackcuda_forget.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64]


def mark(text):
    data = text.encode()
    device.hackcuda_mark(data, len(data))


def integers(ranks):
    return (ctypes.c_int32 * len(ranks))(*ranks)


def mark_group(name, description, ranks):
    device.hackcuda_mark_group(name.encode(), description.encode(), integers(ranks), len(ranks))


class Groups:
    """The process groups of the program, by the name that PyTorch gives them."""

    def __init__(self):
        self.ranks = {}

    def add(self, name, ranks):
        self.ranks[name] = list(ranks)

    def of_key(self, key):
        """The name and the ranks of the communicator whose unique id the store has under this key: "default_pg/0//GROUP//cuda//NUMBER" of a
        whole group ("default_pg/0//cuda//NUMBER" of the world), "...//A:B" of its members A and B. A large group has several ids, each
        with the key "...//UniqueNCCLID:ROOT".
        """
        parts = key.split("//")
        if len(parts) < 3:
            return None, None
        name = parts[-3].split("/")[-1]
        ranks = self.ranks.get(name)
        pair = parts[-1].split(":")
        if ranks is not None and len(pair) == 2 and pair[0].isdigit():
            return name, [ranks[int(member)] for member in pair]
        return name, ranks


groups = Groups()


def fnv(text):
    """A number for a text, the same in every process: FNV-1a."""
    number = 0xCBF29CE484222325
    for byte in text.encode():
        number = (number ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return number


def name_unique_id(key, value):
    name, ranks = groups.of_key(key)
    if ranks is not None:
        device.hackcuda_name_key(int.from_bytes(value[:KEY_BYTES], "little"), integers(ranks), len(ranks), name.encode())


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


def check_group(given):
    """A group of all ranks has to have those of the capture."""
    size, rank = given.get("group_size"), given.get("group_rank")
    if given.get("global_ranks_in_group") or (size, rank) == (WORLD, RANK):
        return
    raise RuntimeError(f"the program joins its ranks as rank {rank} of {size}, but a capture runs it here as rank {RANK} of {WORLD}; "
                       "write a launcher before the program, or --nnodes and --nproc-per-node before --")


class EndedProcesses:
    """What starting processes returns if this process was one of them."""
    processes = []

    def join(self, timeout=None, grace_period=None):
        return True

    def pids(self):
        return []


def be_one_of_processes(module):
    """A program that starts the ranks of a host itself: this process is one of them, and the others are absent."""
    start = module.start_processes

    @functools.wraps(start)
    def run_here(fn, args=(), nprocs=1, *arguments, **named):
        if nprocs == LOCAL_WORLD:
            fn(LOCAL_RANK, *args)
            return EndedProcesses()
        if WORLD == 1:
            raise RuntimeError(f"the program starts {nprocs} processes itself, and a capture runs one; "
                               f"write --nproc-per-node {nprocs} before --, and each is a rank")
        return start(fn, args, nprocs, *arguments, **named)

    module.start_processes = run_here


def keep_temporary_files(folder):
    """A rank is ended inside its program: files without a place of their own, which the program would remove, go with the capture."""
    check = tempfile._sanitize_params

    def check_and_place(prefix, suffix, dir):
        if dir is None and not isinstance(prefix, bytes) and not isinstance(suffix, bytes):
            os.makedirs(folder, exist_ok=True)
            dir = folder
        return check(prefix, suffix, dir)

    tempfile._sanitize_params = check_and_place


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

    def tell(make, ranks_of, others_of):
        """Wraps a function that makes a group: libhackcuda learns who is in it."""
        signature = inspect.signature(make)

        def make_and_tell(*arguments, **named):
            given = signature.bind(*arguments, **named).arguments
            ranks = ranks_of(given)
            if ranks is None:
                return make(*arguments, **named)
            if given.get("group_name") is not None:
                groups.add(given["group_name"], ranks)
            own_name = given.get("group_name")
            device.hackcuda_expect_group(integers(ranks), len(ranks), own_name.encode() if own_name else None)
            try:
                made = make(*arguments, **named)
            finally:
                device.hackcuda_expect_group(None, 0, None)
            group = made[0] if isinstance(made, tuple) else made
            name = getattr(group, "group_name", given.get("group_name"))
            if name:
                groups.add(name, ranks)
                description = given.get("group_desc") or given.get("group_description") or ""
                for number, others in enumerate(others_of(given) or [ranks]):
                    mark_group(name if others == ranks else f"{name}.{number}", description, others)
            return made

        return make_and_tell

    def ranks_of_helper(given):
        check_group(given)
        return list(given.get("global_ranks_in_group") or range(WORLD))

    def splits_of(given):
        """All groups that a split makes of its parent, in ranks of the world."""
        members = module._world.pg_group_ranks.get(given.get("parent_pg") or module._get_default_group(), {})
        rank_of = {member: rank for rank, member in members.items()}
        return [[rank_of[member] for member in sorted(split)] for split in given.get("split_ranks") or []]

    def ranks_of_split(given):
        return next((ranks for ranks in splits_of(given) if RANK in ranks), None)

    share_values(module, device, mark, fnv)
    if os.environ.get("DRYDOCK_CAPTURE_LINES"):
        mark_lines(module)
    module._new_process_group_helper = tell(module._new_process_group_helper, ranks_of_helper, lambda given: None)
    if hasattr(module, "split_group"):
        module.split_group = tell(module.split_group, ranks_of_split, splits_of)


COMMUNICATION = ["send", "recv", "isend", "irecv", "batch_isend_irecv", "barrier", "broadcast", "reduce", "all_reduce", "gather",
                 "scatter", "all_gather", "all_gather_into_tensor", "_all_gather_base", "all_gather_coalesced", "reduce_scatter",
                 "reduce_scatter_tensor", "_reduce_scatter_base", "all_to_all", "all_to_all_single", "all_reduce_coalesced"]
PACKAGES = ("site-packages", "dist-packages", os.path.dirname(os.__file__), os.path.dirname(__file__), "<")


def torch_folder():
    """With the slash that tells it from that of torchvision. It may lie outside the packages of Python."""
    return os.path.join(os.path.dirname(sys.modules["torch"].__file__), "")


def line_of(frame):
    """The file and number of the innermost line outside packages, or else outside PyTorch."""
    own = torch_folder()
    other = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(own) and not any(part in file for part in PACKAGES):
            return file, frame.f_lineno
        if other is None and "/torch/" not in file and not file.startswith((PACKAGES[-2], "<")):
            other = file, frame.f_lineno
        frame = frame.f_back
    return other


def mark_lines(module):
    """Each call of communication tells its line."""
    def tell(function):
        @functools.wraps(function)
        def call_and_tell(*arguments, **named):
            line = line_of(sys._getframe(1))
            if line:
                mark(f"line {line[0]}:{line[1]}")
            return function(*arguments, **named)

        return call_and_tell

    for name in COMMUNICATION:
        if hasattr(module, name):
            setattr(module, name, tell(getattr(module, name)))


@ctypes.CFUNCTYPE(None)
def tell_line():
    """libhackcuda asks for the line of a read. Its file is told as Python finds it: below a folder of sys.path."""
    line = line_of(sys._getframe(1))
    if line:
        folders = [folder.rstrip("/") + "/" for folder in sys.path if folder and line[0].startswith(folder.rstrip("/") + "/")]
        text = f"{line[0][max(map(len, folders), default=0):]}:{line[1]}".encode()
        device.hackcuda_set_line(text, len(text))


def find_lines():
    device.hackcuda_set_line_finder(tell_line)
    atexit.register(device.hackcuda_set_line_finder, None)


class Iterations:
    """Ends the program once it has done what the capture wants: where it begins the forward pass behind so many iterations. An
    iteration ends where an optimizer steps that has stepped in it before an earlier forward pass.
    """

    def __init__(self, wanted):
        self.wanted = wanted
        self.numbers = weakref.WeakKeyDictionary()  # of optimizers, in the order of their first steps
        self.ended = 0
        self.steps = set()  # since the last forward pass
        self.stepped = set()  # in this iteration, before that
        self.whole = None  # what an iteration steps, once one has ended

    def number_of(self, optimizer):
        return self.numbers.setdefault(optimizer, len(self.numbers))

    def note_step(self, optimizer, *_):
        self.steps.add(self.number_of(optimizer))

    def note_forward(self):
        if self.stepped & self.steps:
            self.ended += 1
            self.whole, self.stepped = self.stepped, set()
        self.stepped |= self.steps
        self.steps = set()
        is_whole = self.whole is not None and self.stepped >= self.whole
        if self.ended + is_whole >= self.wanted:
            mark("enough iterations")
            mark_peaks()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)  # neither handlers at exit nor what the program does behind its loop


class Modules:
    """The modules of the program by the names that the program gives them: "0:layers.3.mlp" is a part of the first module that
    the program called by itself, "0:".
    """

    def __init__(self):
        self.texts = {}  # by id(module): a weak reference to it, and its text
        self.roots = 0

    def text_of(self, module):
        found = self.texts.get(id(module))
        if found is not None and found[0]() is module:
            return found[1]
        root, self.roots = self.roots, self.roots + 1
        for name, part in module.named_modules():
            text = f"module {root}:{name} {type(part).__name__}"
            layer = part.__dict__.get("layer_number")  # of the whole model, from 1: Megatron's layers know it
            if isinstance(layer, int):
                text += f" layer={layer - 1}"
            known = self.texts.get(id(part))
            if part is module or known is None or known[0]() is not part:
                self.texts[id(part)] = weakref.ref(part), text.encode()
        return self.texts[id(module)][1]


def quick_calls():
    """Functions of libhackcuda that do not give up Python's lock."""
    quick = ctypes.PyDLL("libhackcuda.so")
    quick.hackcuda_begin_op.argtypes = quick.hackcuda_end_op.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    calls = quick.hackcuda_begin_op, quick.hackcuda_end_op, quick.hackcuda_pause_clock, quick.hackcuda_resume_clock
    quick.hackcuda_pause_clock.argtypes = [ctypes.c_int]
    for call in calls:
        call.restype = None
    return calls


def leave_to_python(module, *functions):
    """torch.compile does not look into these functions."""
    skip_code = getattr(module._C._dynamo.eval_frame, "skip_code", None)
    for function in functions if skip_code is not None else []:
        skip_code(function.__code__)


def mark_modules(module):
    """Calls of modules enter the log as operators do. Global hooks would do, but torch.compile looks for them; a call that it
    compiles never comes here.
    """
    modules = Modules()
    begin, end, _, _ = quick_calls()
    call = module.nn.Module.__call__
    wanted = int(os.environ.get("DRYDOCK_CAPTURE_ITERATIONS", "0"))
    iterations = Iterations(wanted)

    def note_step(optimizer, *_):
        mark(f"optimizer {iterations.number_of(optimizer)}")
        if wanted > 0:
            iterations.note_step(optimizer)

    importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(note_step)
    is_compiling = getattr(getattr(module, "compiler", None), "is_dynamo_compiling", lambda: False)

    def call_and_mark(self, *arguments, **named):
        if is_compiling():  # torch.export traces the call of the whole module
            return call(self, *arguments, **named)
        text = modules.text_of(self)
        if iterations.steps and b": " in text:  # a root
            iterations.note_forward()
        begin(text, len(text))
        try:
            return call(self, *arguments, **named)
        finally:
            end(b"", 0)

    leave_to_python(module, call_and_mark, Modules.text_of)
    module.nn.Module.__call__ = call_and_mark


def count_iterations(module):
    """Ends a run that measures the host where the run that is observed ends. Calls of modules are looked at only until the
    program calls a root: all others take their own time.
    """
    wanted = int(os.environ.get("DRYDOCK_CAPTURE_ITERATIONS", "0"))
    if wanted <= 0:
        return
    modules, iterations = Modules(), Iterations(wanted)
    kind, call = module.nn.Module, module.nn.Module.__call__

    def call_and_count(self, *arguments, **named):
        if b": " in modules.text_of(self):  # a root
            if kind.__call__ is call_and_count:
                kind.__call__ = call
            if iterations.steps:
                iterations.note_forward()
        return call(self, *arguments, **named)

    def note_step(optimizer, *_):
        iterations.note_step(optimizer)
        if kind.__call__ is call:
            kind.__call__ = call_and_count

    leave_to_python(module, call_and_count, Modules.text_of)
    importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(note_step)
    kind.__call__ = call_and_count


# c10's names of types.
TYPES = {"float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "float64": "Double", "int64": "Long", "int32": "Int",
         "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "float8_e4m3fn": "Float8_e4m3fn",
         "float8_e5m2": "Float8_e5m2"}


# Where Transformer Engine's quantized tensors, which claim to be of the type that they stand for, have their data.
QUANTIZED = ("_data", "_rowwise_data", "_columnwise_data", "_transpose")


def text_of_argument(value):
    """As the observer of operators writes a tensor or number."""
    own = vars(value) if hasattr(value, "__dict__") else {}
    if any(name in own for name in QUANTIZED):
        return "{" + "".join(text_of_argument(own[name]) for name in QUANTIZED if own.get(name) is not None) + "}"
    dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
    if dtype not in TYPES:
        return str(value) if isinstance(value, int) else ""
    shape = ",".join(map(str, value.shape))
    try:
        if not value.is_contiguous():
            shape += ":" + ",".join(map(str, value.stride()))
    except Exception:  # a class of the program's that stands for a tensor may not tell
        pass
    return f"{TYPES[dtype]}{'' if value.is_cuda else '@host'}[{shape}]"


def texts_of_value(value):
    """As the observer writes a value; a list of lists is several lists."""
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, float):
        return [f"{value:g}"]
    if not isinstance(value, (list, tuple)):
        return [text_of_argument(value)]
    if value and isinstance(value[0], (list, tuple)):
        return [text for part in value for text in texts_of_value(part)]
    if all(isinstance(part, int) for part in value):
        return [f"[{','.join(map(str, value))}]"]
    return ["{" + "".join(text for part in value if hasattr(part, "dtype") for text in texts_of_value(part)) + "}"]


def text_of_values(values):
    return f"({','.join(text for value in values for text in texts_of_value(value))})"


def forget_values(values, origin):
    """Kernels have written these tensors, which only a GPU can run: nobody knows what."""
    number = device.hackcuda_name(origin.encode(), len(origin.encode()))
    for value in values:
        own = vars(value) if hasattr(value, "__dict__") else {}
        if isinstance(value, (list, tuple)):
            forget_values(value, origin)
        elif any(name in own for name in QUANTIZED):
            forget_values([own.get(name) for name in QUANTIZED], origin)
        elif getattr(value, "is_cuda", False) and value.numel() > 0:
            last = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))
            device.hackcuda_forget(value.data_ptr(), (last + 1) * value.element_size(), number)


# Functions of Apex and Transformer Engine that set a flag, their second argument, where a value is not finite.
FLAG = re.compile("::multi_tensor_(scale|axpby|unscale_l2norm)")


def mark_extension(module):
    """Functions of libraries that launch kernels without an operator of PyTorch around them."""
    import torch

    begin, end, pause, resume = quick_calls()

    def wrap(name, function):
        def call_and_mark(*arguments, **named):
            pause(1)
            text = (name + text_of_values((*arguments, *named.values()))).encode()
            begin(text, len(text))
            before = device.hackcuda_works()
            resume()
            outputs = None
            try:
                outputs = function(*arguments, **named)
                return outputs
            finally:
                pause(1)
                results = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
                text = text_of_values(results).encode()
                end(text, len(text))
                if device.hackcuda_works() > before:
                    forget_values(results, name)
                    forget_values(arguments[1:2] if FLAG.search(name) else (), name)
                resume()

        leave_to_python(torch, call_and_mark)
        return call_and_mark

    leave_to_python(torch, texts_of_value, text_of_values, forget_values)
    for name, function in list(vars(module).items()):
        if callable(function) and not isinstance(function, type) and not name.startswith("_"):
            setattr(module, name, wrap(f"{module.__name__.rpartition('.')[2]}::{name}", function))


def is_extension(path):
    """Whether a library of Python's was built against PyTorch, and is none of its own: that of Transformer Engine, Apex,
    flash-attn, Mamba, and of whatever the user has built.
    """
    if "torch" not in sys.modules or path.startswith(torch_folder()):
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"libc10.so") >= 0


def mark_extensions():
    """Marks them as they are loaded. Some packages load theirs by path, so that no finder of modules is asked."""
    load = importlib.machinery.ExtensionFileLoader.exec_module

    def load_and_mark(self, module):
        load(self, module)
        if is_extension(self.path):
            mark_extension(module)

    importlib.machinery.ExtensionFileLoader.exec_module = load_and_mark


def stored_names(kernel):
    """The parameters of a kernel of Triton's through which it may write: what its stores, its atomics and its calls of other
    functions are made of. All, if its source is not at hand.
    """
    try:
        source = textwrap.dedent(inspect.getsource(kernel.fn))
    except (OSError, TypeError):
        return set(kernel.arg_names)
    function = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))

    def names_in(*nodes):
        """Without those of what is loaded, which is an index at most."""
        names = set()
        for node in nodes:
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "load"):
                names |= names_in(*ast.iter_child_nodes(node))
        return names

    def is_foreign(called):
        """Whether it is neither Python's own nor of Triton's language: it may store, too."""
        if isinstance(called, ast.Name):
            return called.id not in dir(builtins)
        root = called
        while isinstance(root, ast.Attribute):
            root = root.value
        module = kernel.fn.__globals__.get(getattr(root, "id", None))
        return inspect.ismodule(module) and not module.__name__.startswith("triton")

    made_of, stored = collections.defaultdict(set), set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            for name in names_in(*(node.targets if isinstance(node, ast.Assign) else [node.target])):
                made_of[name] |= names_in(node.value)
        elif isinstance(node, ast.Call):
            named = [keyword.value for keyword in node.keywords]
            if getattr(node.func, "attr", "").startswith(("store", "atomic")):
                stored |= names_in(node.func, *(node.args[:1] or named))
            elif is_foreign(node.func):
                stored |= names_in(*node.args, *named)
    before = None
    while before != stored:
        before, stored = stored, stored.union(*(made_of[name] for name in stored))
    return stored


def mark_kernels(kind, name_of, names_of, writes):
    """Kernels of Triton have no operator around them; `kind.run` launches one. What it reads and writes is told, twice where the
    compiler says that it does both. `writes(kernel)` tells of a parameter's name whether the kernel writes there.
    """
    import torch

    begin, end, pause, resume = quick_calls()
    run = kind.run

    def run_and_mark(self, *arguments, **named):
        pause(1)
        given = [*itertools.zip_longest(names_of(self)[:len(arguments)], arguments, fillvalue=""), *named.items()]
        texts = []
        for name, value in given:
            if name not in named or hasattr(value, "dtype"):
                texts += [text_of_argument(value)] * (2 if name.startswith("in_out") else 1)
        title = f"triton::{name_of(self)}"
        text = f"{title}({','.join(texts)})".encode()
        begin(text, len(text))
        resume()
        try:
            return run(self, *arguments, **named)
        finally:
            pause(1)
            end(b"", 0)
            is_written = writes(self)
            forget_values([value for name, value in given if is_written(name)], title)
            resume()

    leave_to_python(torch, run_and_mark, text_of_argument, name_of, names_of, writes, forget_values, stored_names)
    kind.run = run_and_mark


def mark_compiled(module):
    mark_kernels(module.CachingAutotuner, lambda kernel: kernel.inductor_meta.get("kernel_name", "kernel"),
                 lambda kernel: list(kernel.triton_meta.get("signature", ())),
                 lambda kernel: lambda name: "out_ptr" in name or name in kernel.mutated_arg_names)


def mark_triton(module):
    stored = {}  # by kernel

    def writes(kernel):
        if kernel not in stored:
            stored[kernel] = stored_names(kernel)
        return stored[kernel].__contains__

    mark_kernels(module.JITFunction, lambda kernel: kernel.__name__, lambda kernel: list(kernel.arg_names), writes)


def mark_peaks():
    import torch

    if torch.cuda.is_initialized():
        mark(f"memory {torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()}")


def mark_processor():
    """Of this machine, on which the host's times are measured."""
    with open("/proc/cpuinfo") as facts:
        names = [line.partition(":")[2].strip() for line in facts if line.startswith("model name")]
    mark(f"processor {names[0] if names else platform.machine()}")


def observe(module):
    mark_processor()
    if OBSERVER:
        module.capture_observer = ctypes.CDLL(OBSERVER)
        find_lines()
        mark_modules(module)
        atexit.register(mark_peaks)
    else:
        count_iterations(module)


def accept_plans(module):
    """The plans of absent ranks for a checkpoint are copies of this rank's, which the planner finds to overlap."""
    module._validate_global_plan = lambda *arguments: True


keep_temporary_files(os.path.join(os.environ["DRYDOCK_CAPTURE_VALUES"], "temporary"))
ACTIONS = {
    "torch": observe,
    "torch.multiprocessing.spawn": be_one_of_processes,
    "torch.distributed.rendezvous": replace_rendezvous,
    "torch.distributed.distributed_c10d": replace_groups,
    "torch.distributed.checkpoint.default_planner": accept_plans,
}
if OBSERVER:
    ACTIONS["torch._inductor.runtime.triton_heuristics"] = mark_compiled
    ACTIONS["triton.runtime.jit"] = mark_triton
    mark_extensions()
