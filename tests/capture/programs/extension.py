"""A library of Python's that launches a kernel of its own, and is loaded by its path, as Transformer Engine's is."""
import importlib.util
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import torch

SOURCE = r"""
#include <Python.h>
struct Dim { unsigned x, y, z; };
int cudaLaunchKernel(const void*, struct Dim, struct Dim, void**, size_t, void*);
static void kernel(void) {}
static PyObject* scale(PyObject* self, PyObject* arguments) {
  const struct Dim grid = {64, 1, 1}, block = {128, 1, 1};
  cudaLaunchKernel((const void*)kernel, grid, block, 0, 0, 0);
  return Py_NewRef(PyTuple_GetItem(arguments, 1));
}
static PyMethodDef methods[] = {{"scale", scale, METH_VARARGS, ""}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "scaling", "", -1, methods};
PyMODINIT_FUNC PyInit_scaling(void) { return PyModule_Create(&module); }
"""

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "scaling.so"
    libraries = pathlib.Path(torch.__file__).parent / "lib"
    subprocess.run(["cc", "-x", "c", "-", "-shared", "-fPIC", "-I", sysconfig.get_path("include"), "-L", libraries,
                    "-Wl,--no-as-needed", "-lc10", "-Wl,--unresolved-symbols=ignore-all", "-o", path],
                   input=SOURCE.encode(), check=True)
    spec = importlib.util.spec_from_file_location("scaling", path)
    scaling = importlib.util.module_from_spec(spec)
    sys.modules["scaling"] = scaling
    spec.loader.exec_module(scaling)

weight = torch.nn.Parameter(torch.ones(1000, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
module = torch.nn.Identity()
for _ in range(3):
    x, y = torch.ones(1000, device="cuda"), torch.empty(1000, device="cuda")
    total = module(scaling.scale(x, y)).sum()
    (weight.sum() * 2).backward()
    optimizer.step()
    print(total.item(), weight.sum().item() < 1000)
