"""Risk certificates for voting classifiers.

A certificate is an upper bound on the true error of a weighted majority vote that holds with probability
1 - delta although the weights were learned on the same rows.
"""

from votecert.ballots import Ballots
from votecert.bounds import BOUNDS
from votecert.certificate import Certificate, CertificateTable, certify, compare
from votecert.classifier import CertifiedVotingClassifier
from votecert.display import BoundComparisonDisplay, CertificateCurveDisplay, MarginDisplay, WeightsDisplay
from votecert.learning.learn import learn
from votecert.oob import certify_oob
from votecert.planning import certificate_curve, rows_needed
from votecert.scale import read_ballots
from votecert.stumps import DecisionStumps, paper_forest
from votecert.voters import collect_scores, collect_votes, out_of_bag_votes, voter_classes

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
