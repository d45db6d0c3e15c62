"""Functions of floats and arrays that the bounds are made of.  Nothing here knows about votes."""

from votecert.numerics.arithmetic import OUTWARD, Arithmetic, exact
from votecert.numerics.beta import beta_cdf, beta_cdf_gradient, dirichlet_tail
from votecert.numerics.binomial import (
    binomial_tail,
    binomial_tail_slope,
    clopper_pearson_lower,
    clopper_pearson_upper,
    log_binomial_cdf,
    log_binomial_coefficient,
)
from votecert.numerics.divergences import (
    categorical_entropy,
    categorical_kl,
    categorical_kl_gradient,
    dirichlet_kl,
    dirichlet_kl_gradient,
)
from votecert.numerics.kl import (
    binary_kl,
    catoni_phi,
    catoni_phi_inverse,
    closed_form_upper,
    kl_inverse_lower,
    kl_inverse_lower_gradient,
    kl_inverse_upper,
    kl_inverse_upper_gradient,
    pinsker_upper,
    refined_upper,
    sharper_upper,
)
from votecert.numerics.maurer import log_maurer
from votecert.numerics.mixture import catoni_grid, mixture_inverse, mixture_inverse_gradient

__all__ = [
    "OUTWARD",
    "Arithmetic",
    "beta_cdf",
    "beta_cdf_gradient",
    "binary_kl",
    "binomial_tail",
    "binomial_tail_slope",
    "categorical_entropy",
    "categorical_kl",
    "categorical_kl_gradient",
    "catoni_grid",
    "catoni_phi",
    "catoni_phi_inverse",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "closed_form_upper",
    "dirichlet_kl",
    "dirichlet_kl_gradient",
    "dirichlet_tail",
    "exact",
    "kl_inverse_lower",
    "kl_inverse_lower_gradient",
    "kl_inverse_upper",
    "kl_inverse_upper_gradient",
    "log_binomial_cdf",
    "log_binomial_coefficient",
    "log_maurer",
    "mixture_inverse",
    "mixture_inverse_gradient",
    "pinsker_upper",
    "refined_upper",
    "sharper_upper",
]
