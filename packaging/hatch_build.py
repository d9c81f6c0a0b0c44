"""Puts the built executables into the wheel: what `cmake --install` installs, under drydock/_tree."""
import pathlib
import shutil
import subprocess
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEFT_OUT = ["share/doc", "share/man", "share/bash-completion", "share/zsh"]


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "editable":  # the package then finds build/release
            return
        root = pathlib.Path(self.root)
        built = root / "build/release"
        if not (built / "bin/drydock").exists():
            raise RuntimeError("build/release has no executables: run scripts/setup.sh first")
        self.tree = pathlib.Path(self.directory) / "tree"
        shutil.rmtree(self.tree, ignore_errors=True)
        subprocess.run(["cmake", "--install", built, "--prefix", self.tree, "--strip"], check=True, stdout=subprocess.DEVNULL)
        for folder in LEFT_OUT:
            shutil.rmtree(self.tree / folder, ignore_errors=True)
        build_data["force_include"][str(self.tree)] = "drydock/_tree"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")

    def finalize(self, version, build_data, artifact_path):
        if version != "editable":
            shutil.rmtree(self.tree, ignore_errors=True)
