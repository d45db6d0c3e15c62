"""Every registered bound in forty digits, from votes, labels, weights, delta and what the search chose.

Written from the theory, term by term and row by row, with rational numbers up to the first logarithm: no
statistic, no special function and no formula of the library is used. Each function gives the bound, not
above 1, and the numbers that it is about as they are counted on the rows, by the names of the certificate.

Symbols: m rows, d voters, theta the weights, y the true class, v_k the weight of class k on a row,
W = 1 - v_y, M the margin, K, g, mu, T the choices of the search.
"""

from __future__ import annotations

import formulas_categorical as categorical
import formulas_dirichlet as dirichlet
import formulas_votes as votes

FORMULAS = {
    "fo": categorical.first_order,
    "so": categorical.second_order,
    "bin": categorical.binomial,
    "bin-margin": categorical.binomial_margin,
    "cctnd": categorical.chebyshev_tandem,
    "ccpbb": categorical.chebyshev_bennett,
    "c-bound": categorical.c_bound,
    "bg": categorical.biggs_guedj,
    "bg+": categorical.biggs_guedj_plus,
    "bg++": categorical.biggs_guedj_plus_plus,
    "gz": categorical.gao_zhou,
    "dirichlet-margin": dirichlet.dirichlet_margin,
    "dirichlet-margin-published": dirichlet.dirichlet_margin_published,
    "f2": dirichlet.factor_two,
    "dirichlet-stochastic": dirichlet.dirichlet_stochastic,
    "dirichlet-stochastic-published": dirichlet.dirichlet_stochastic_published,
    "partition": dirichlet.partition,
    "dirichlet": dirichlet.dirichlet,
    "occam": votes.occam,
    "test-set": votes.test_set,
}
