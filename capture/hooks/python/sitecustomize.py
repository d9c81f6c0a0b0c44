"""Makes this process one rank of a program whose other ranks are absent.

Python reads this file by itself, as it lies on PYTHONPATH. It changes nothing of the program: what it replaces, it replaces
right after the program has imported it.
"""
import importlib.machinery
import os
import sys

FOLDER = os.environ.get("DRYDOCK_CAPTURE")


def after_import(actions):
    """Runs actions[name](module) once the module of this name has run."""

    class Finder:
        def find_spec(self, name, path, target=None):
            if name not in actions:
                return None
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is None:
                return None  # not installed
            run = spec.loader.exec_module

            def run_then_act(module):
                run(module)
                actions[name](module)

            spec.loader.exec_module = run_then_act
            return spec

    sys.meta_path.insert(0, Finder())


if FOLDER:
    import capture_torch

    after_import(capture_torch.ACTIONS)
