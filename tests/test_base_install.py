"""What must work with NumPy, SciPy and scikit-learn alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import votecert as vc

OPTIONAL = (
    "mpmath",
    "matplotlib",
    "typer",
    "rich",
    "jinja2",
    "pyarrow",
    "pandas",
    "polars",
    "dask",
)


def test_import_needs_no_optional_package():
    """Optional packages are made unimportable, then the README's example runs."""
    program = f"""
import sys
for name in {OPTIONAL!r}:
    sys.modules[name] = None
import numpy as np, votecert as vc
rng = np.random.default_rng(0)
y = rng.integers(2, size=500)
votes = np.where(rng.random((500, 5)) < 0.8, y[:, None], 1 - y[:, None])
certificate = vc.certify(votes, y)
again = vc.Certificate.from_json(certificate.to_json())
outcome = again.verify(votes, y)
assert outcome and outcome.arithmetic == "float64", str(outcome)
assert len(vc.compare(votes, y)) == len(vc.BOUNDS)
assert vc.learn(votes, y, objective="f2").risk < 1
assert "Guarantee" in certificate._repr_html_()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_forest_is_certified_and_verified():
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    X, X_certify, y, y_certify = train_test_split(
        *load_breast_cancer(return_X_y=True), test_size=0.5, random_state=0
    )
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    votes = vc.collect_votes(forest, X_certify)
    certificate = vc.certify(votes, y_certify)
    assert certificate.empirical_risk < certificate.risk < 0.15
    assert certificate.verify(votes, y_certify)
    assert np.sum(certificate.predict(votes) != y_certify) == certificate.errors
