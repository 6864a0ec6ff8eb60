"""Quaternions: (w, x, y, z) here, (x, y, z, w) in scipy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def to_scipy(quaternion: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(..., 4) from (w, x, y, z) to scipy's (x, y, z, w)."""
    return np.roll(np.asarray(quaternion, dtype=float), -1, axis=-1)


def from_scipy(quaternion: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(..., 4) from scipy's (x, y, z, w) to (w, x, y, z)."""
    return np.roll(np.asarray(quaternion, dtype=float), 1, axis=-1)
