"""Builds the Python package by CMake: pip install --no-build-isolation . (docs/python.md)"""

import os
import re
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

root = Path(__file__).resolve().parent
version = re.search(r'define LW_VERSION "(.*)"', (root / "include/linkwork/version.h").read_text(encoding="utf-8"))
assert version, "include/linkwork/version.h names no version"


class BuildByCMake(build_ext):
    """The extension module is the target linkwork-python of CMakeLists.txt."""

    def build_extension(self, ext: Extension) -> None:
        build = root / "build-python"
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["cmake", "-S", root, "-B", build, "-G", "Ninja", "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release",
                        "-DLINKWORK_TESTS=OFF", "-DLINKWORK_PYTHON_PACKAGE=ON",
                        "-DLINKWORK_LINK_LIBXML2=ON", "-DLINKWORK_LINK_HDF5=ON"], check=True)  # auditwheel packs what is linked
        subprocess.run(["cmake", "--build", build, "-j", jobs, "--target", "linkwork-python"], check=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(build / "python/linkwork/_core.abi3.so"), str(target))


setup(
    version=version.group(1),
    packages=["linkwork"],
    package_dir={"": "python"},
    package_data={"linkwork": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("linkwork._core", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildByCMake},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    zip_safe=False,
)
