r"""Square roots as coordinates of the weights: one vector x for theta and K together.

``theta_i = x_i^2 / |x|^2`` and, for bounds with a Dirichlet posterior, ``K = |x|^2``; that is
``alpha = K theta = x^2``.

Why not logarithms: the divergence of a categorical posterior from its prior has the curvature ``1/theta_i``
in weight i. In logarithms this becomes theta_i, which differs by orders of magnitude between voters, and a
quasi-Newton method first has to learn it; in square roots it is the same number for every voter (the Fisher
metric is that of a sphere). With the votes of 264 stumps the binomial bound then takes 83 evaluations instead
of 1116.
"""

from __future__ import annotations

import numpy as np

from votecert.bounds.base import Floats, Objective


def coordinates_of(weights: Floats, concentration: float = 1.0) -> Floats:
    """Coordinates x of given weights, with |x|^2 = K. The slope at x_i = 0 is zero: such a weight stays zero.

    Examples
    --------
    >>> coordinates_of(np.array([0.25, 0.75]), concentration=4.0)
    array([1.        , 1.73205081])
    """
    return np.asarray(np.sqrt(concentration * weights))


def weights_at(x: Floats) -> tuple[Floats, float]:
    """The weights theta and the concentration K at x.

    Examples
    --------
    >>> weights, concentration = weights_at(np.array([1.0, 3.0]))
    >>> weights.tolist(), concentration
    ([0.1, 0.9], 10.0)
    """
    squares = x * x
    concentration = float(squares.sum())
    return squares / concentration, concentration


def gradient_at(x: Floats, objective: Objective) -> Floats:
    r"""The gradient in x, from the gradients in theta and in log K.

    Notes
    -----
    With the slopes g in theta and h in log K,
    :math:`\partial/\partial x_i = 2 x_i/|x|^2 \,(g_i - \sum_j \theta_j g_j + h)`.

    Examples
    --------
    >>> gradient_at(np.array([1.0, 1.0]), Objective(0.0, np.array([0.0, 2.0]), 3.0))
    array([2., 4.])
    """
    weights, concentration = weights_at(x)
    slopes = objective.d_weights - weights @ objective.d_weights + objective.d_log_concentration
    return np.asarray(2 * x / concentration * slopes)
