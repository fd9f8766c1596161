"""What accuracies are before the votes: signed, shifted log-normal.

    g = k (1.5 e^theta - 0.5),    theta ~ N(0, T^2),    k = -1 with chance pi, else 1.

The typical judge has an accuracy of 1; the tail is long upwards, and passes smoothly through 0; a
backwards judge (``k = -1``) is as accurate as others, the other way round.
"""

from __future__ import annotations

import numpy as np

from juryrank.arrays import Floats

SHIFT = 0.5
LARGEST = 5.0
"""Of ``theta``: no accuracy is beyond ``1.5 e^5``."""


def magnitude(theta: Floats) -> Floats:
    """``k g``: the accuracy of a judge as if it did not vote backwards."""
    return np.asarray((1.0 + SHIFT) * np.exp(np.minimum(theta, LARGEST)) - SHIFT)


def slope(theta: Floats) -> Floats:
    """The derivative of `magnitude`."""
    return np.asarray((1.0 + SHIFT) * np.exp(np.minimum(theta, LARGEST)))


def theta_of(magnitude: Floats) -> Floats:
    """The ``theta`` of a magnitude; NaN where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.log((magnitude + SHIFT) / (1.0 + SHIFT)))


def log_density(magnitude: Floats, spread: float) -> Floats:
    """Of a magnitude, up to a constant; minus infinity below the least one."""
    theta = theta_of(magnitude)
    with np.errstate(invalid="ignore"):
        found = -0.5 * (theta / spread) ** 2 - theta
    return np.where(magnitude > -SHIFT, found, -np.inf)
