"""Risk certificates for voting classifiers.

A certificate is an upper bound on the true error of a weighted majority vote that holds with probability
1 - delta although the weights were learned on the same rows.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from votecert.ballots import Ballots
    from votecert.bounds import BOUNDS
    from votecert.certificate import Certificate, CertificateTable, certify, compare
    from votecert.classifier import CertifiedVotingClassifier
    from votecert.display import (
        BoundComparisonDisplay,
        CertificateCurveDisplay,
        MarginDisplay,
        WeightsDisplay,
    )
    from votecert.learning.learn import learn
    from votecert.oob import certify_oob
    from votecert.planning import certificate_curve, rows_needed
    from votecert.scale import read_ballots
    from votecert.stumps import DecisionStumps, paper_forest
    from votecert.voters import collect_scores, collect_votes, out_of_bag_votes, voter_classes
else:
    # Each name is loaded when it is first used: SciPy and scikit-learn take two seconds, which `votecert
    # --help` can do without, and certifying votes from a file can do without scikit-learn.
    _HOMES = {
        "ballots": ["Ballots"],
        "bounds": ["BOUNDS"],
        "certificate": ["Certificate", "CertificateTable", "certify", "compare"],
        "classifier": ["CertifiedVotingClassifier"],
        "display": [
            "BoundComparisonDisplay",
            "CertificateCurveDisplay",
            "MarginDisplay",
            "WeightsDisplay",
        ],
        "learning.learn": ["learn"],
        "oob": ["certify_oob"],
        "planning": ["certificate_curve", "rows_needed"],
        "scale": ["read_ballots"],
        "stumps": ["DecisionStumps", "paper_forest"],
        "voters": ["collect_scores", "collect_votes", "out_of_bag_votes", "voter_classes"],
    }

    def __getattr__(name):
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names:
                globals()[name] = getattr(import_module(f"votecert.{home}"), name)
                return globals()[name]
        raise AttributeError(f"module 'votecert' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = [
    "BOUNDS",
    "Ballots",
    "BoundComparisonDisplay",
    "Certificate",
    "CertificateCurveDisplay",
    "CertificateTable",
    "CertifiedVotingClassifier",
    "DecisionStumps",
    "MarginDisplay",
    "WeightsDisplay",
    "certificate_curve",
    "certify",
    "certify_oob",
    "collect_scores",
    "collect_votes",
    "compare",
    "learn",
    "out_of_bag_votes",
    "paper_forest",
    "read_ballots",
    "rows_needed",
    "voter_classes",
]
