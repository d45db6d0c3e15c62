"""Risk certificates for voting classifiers.

A certificate is an upper bound on the true error of a weighted majority vote that holds with probability
1 - delta although the weights were learned on the same rows.
"""

from functools import cache
from typing import TYPE_CHECKING

# The public names. Each is loaded when it is first used: SciPy and scikit-learn take two seconds, which
# `votecert --help` can do without, and certifying votes from a file can do without scikit-learn.
if TYPE_CHECKING:
    from votecert.bounds import BOUNDS as BOUNDS
    from votecert.certificate import Certificate as Certificate
    from votecert.certificate import CertificateTable as CertificateTable
    from votecert.certificate import certify as certify
    from votecert.certificate import compare as compare
    from votecert.certificate.difference import Difference as Difference
    from votecert.certificate.difference import difference as difference
    from votecert.certificate.losses import LossCertificate as LossCertificate
    from votecert.certificate.out_of_bag import certify_oob as certify_oob
    from votecert.certificate.triage import Triage as Triage
    from votecert.certificate.triage import triage as triage
    from votecert.classifier.estimator import CertifiedVotingClassifier as CertifiedVotingClassifier
    from votecert.display import BoundComparisonDisplay as BoundComparisonDisplay
    from votecert.display import CertificateCurveDisplay as CertificateCurveDisplay
    from votecert.display import DifferenceDisplay as DifferenceDisplay
    from votecert.display import MarginDisplay as MarginDisplay
    from votecert.display import MonitorDisplay as MonitorDisplay
    from votecert.display import TriageDisplay as TriageDisplay
    from votecert.display import WeightsDisplay as WeightsDisplay
    from votecert.learning.adam import Adam as Adam
    from votecert.learning.lbfgs import LBFGS as LBFGS
    from votecert.learning.learn import learn as learn
    from votecert.learning.whole_votes import WholeVotes as WholeVotes
    from votecert.monitoring import Monitor as Monitor
    from votecert.planning import certificate_curve as certificate_curve
    from votecert.planning import rows_needed as rows_needed
    from votecert.planning import sequential_plan as sequential_plan
    from votecert.rows.ballots import Ballots as Ballots
    from votecert.rows.blocks import read_ballots as read_ballots
    from votecert.rows.files.read import read_votes as read_votes
    from votecert.rows.vote_table import VoteTable as VoteTable
    from votecert.voters.collect import collect_scores as collect_scores
    from votecert.voters.collect import collect_votes as collect_votes
    from votecert.voters.collect import out_of_bag_votes as out_of_bag_votes
    from votecert.voters.collect import voter_classes as voter_classes
    from votecert.voters.stumps import DecisionStumps as DecisionStumps
    from votecert.voters.stumps import paper_forest as paper_forest
else:

    @cache
    def _homes():
        """The module of each public name, from the lines above: they are read here, and not carried out."""
        import ast

        tree = ast.parse(__loader__.get_source(__name__))
        block = next(node for node in tree.body if isinstance(node, ast.If))
        return {alias.name: line.module for line in block.body for alias in line.names}

    def __getattr__(name):
        from importlib import import_module

        if name == "__all__":
            return sorted(_homes())
        if name.startswith("_") or name not in _homes():
            raise AttributeError(f"module 'votecert' has no attribute {name!r}")
        globals()[name] = getattr(import_module(_homes()[name]), name)
        return globals()[name]

    def __dir__():
        return sorted({*globals(), "__all__", *_homes()})


__version__ = "0.2.0"
