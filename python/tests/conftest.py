"""Where the problems and the program lie, for all tests."""

import os
from pathlib import Path

import linkwork as lw
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program() -> Path:
    """The program of the same build; its results are the measure."""
    path = Path(os.environ.get("LINKWORK_PROGRAM", ROOT / "build/linkwork"))
    if not path.exists():
        pytest.skip(f"there is no program at {path}")
    return path


def problem(name: str, **parameters: float) -> lw.Model:
    return lw.load(ROOT / "problems" / name / "model.yaml", **parameters)


@pytest.fixture()
def four_bar() -> lw.Model:
    return problem("four_bar")


@pytest.fixture()
def double_pendulum() -> lw.Model:
    return problem("double_pendulum")
