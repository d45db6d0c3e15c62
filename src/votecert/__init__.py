"""Risk certificates for voting classifiers.

A certificate is an upper bound on the true error of a weighted majority vote that holds with probability
1 - delta although the weights were learned on the same rows.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from votecert.bounds import BOUNDS
    from votecert.certificate import Certificate, CertificateTable, certify, compare
    from votecert.certificate.out_of_bag import certify_oob
    from votecert.classifier.estimator import CertifiedVotingClassifier
    from votecert.display import (
        BoundComparisonDisplay,
        CertificateCurveDisplay,
        MarginDisplay,
        WeightsDisplay,
    )
    from votecert.learning.adam import Adam
    from votecert.learning.lbfgs import LBFGS
    from votecert.learning.learn import learn
    from votecert.learning.whole_votes import WholeVotes
    from votecert.planning import certificate_curve, rows_needed
    from votecert.rows.ballots import Ballots
    from votecert.rows.blocks import read_ballots
    from votecert.voters.collect import collect_scores, collect_votes, out_of_bag_votes, voter_classes
    from votecert.voters.stumps import DecisionStumps, paper_forest
else:
    # Each name is loaded when it is first used: SciPy and scikit-learn take two seconds, which `votecert
    # --help` can do without, and certifying votes from a file can do without scikit-learn.
    _HOMES = {
        "rows.ballots": ["Ballots"],
        "bounds": ["BOUNDS"],
        "certificate": ["Certificate", "CertificateTable", "certify", "compare"],
        "classifier.estimator": ["CertifiedVotingClassifier"],
        "display": [
            "BoundComparisonDisplay",
            "CertificateCurveDisplay",
            "MarginDisplay",
            "WeightsDisplay",
        ],
        "learning.learn": ["learn"],
        "learning.adam": ["Adam"],
        "learning.lbfgs": ["LBFGS"],
        "learning.whole_votes": ["WholeVotes"],
        "certificate.out_of_bag": ["certify_oob"],
        "planning": ["certificate_curve", "rows_needed"],
        "rows.blocks": ["read_ballots"],
        "voters.stumps": ["DecisionStumps", "paper_forest"],
        "voters.collect": ["collect_scores", "collect_votes", "out_of_bag_votes", "voter_classes"],
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
    "LBFGS",
    "Adam",
    "Ballots",
    "BoundComparisonDisplay",
    "Certificate",
    "CertificateCurveDisplay",
    "CertificateTable",
    "CertifiedVotingClassifier",
    "DecisionStumps",
    "MarginDisplay",
    "WeightsDisplay",
    "WholeVotes",
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
