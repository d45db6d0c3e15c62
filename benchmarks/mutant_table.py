"""Small bugs made by hand, one edit each, and the tests that ought to notice: see ``mutants``.

An edit replaces a text that occurs exactly once in its file. When code moves, so do the edits.
"""

from __future__ import annotations

from dataclasses import dataclass

Tests = tuple[str, ...]


@dataclass(frozen=True)
class Mutant:
    """A bug: in this file of the package this text becomes that; what it breaks, and who should notice."""

    file: str
    old: str
    new: str
    breaks: str
    tests: Tests


def formulas(*bounds: str) -> Tests:
    """The comparison of these bounds with their independent formulas."""
    return ("tests/bounds/test_formulas.py", "-k", " or ".join(f"[{bound}-" for bound in bounds))


def options(*cases: str) -> Tests:
    """The same comparison at some options and choices."""
    return ("tests/bounds/test_formulas.py", "-k", " or ".join(f"[{case}" for case in cases))


FORMATS = ("tests/rows/files/test_long.py",)
KL = ("tests/numerics/test_kl.py",)
BINOMIAL = ("tests/numerics/test_binomial.py",)
BETA = ("tests/numerics/test_beta.py",)
DIVERGENCES = ("tests/numerics/test_divergences.py",)
ARITHMETIC = ("tests/numerics/test_arithmetic.py",)
PRIOR = ("tests/bounds/test_occam_prior.py",)
LOOKS = ("tests/learning/test_looks.py",)
LEAKS = ("tests/learning/test_leaks.py",)
SPLITTING = ("tests/classifier/test_classifier_rows.py",)
SEARCHES = ("tests/classifier/test_searches.py",)
GROUPS = ("tests/certificate/test_groups.py",)
LEVELS = ("tests/certificate/test_levels.py",)
VERIFY = ("tests/certificate/test_verification.py",)
BLOCKS = ("tests/rows/blocks/test_growing_labels.py",)
FILES = ("tests/rows/files/test_many_labels.py",)
PREDICTOR = ("tests/certificate/test_predictor.py",)
OUT_OF_BAG = ("tests/bounds/test_formulas.py", "-k", "out_of_bag")
PLANNING = ("tests/test_planning.py",)
SEQUENTIAL = ("tests/numerics/test_sequential.py",)
STOPPING = ("tests/test_planning_sequential.py",)
MONITOR = ("tests/monitoring/test_monitor.py",)
CLUSTERS = ("tests/monitoring/test_clusters.py",)
WATCHING_COMMAND = ("tests/cli/test_cli_monitor.py",)
GATE = ("tests/cli/test_cli_certify.py", "-k", "gate")

BOUNDED = ("tests/numerics/test_bounded.py",)
DIFFERENCE = ("tests/certificate/test_difference.py",)
TRIAGE = ("tests/certificate/test_triage.py",)
LOSSES = ("tests/certificate/test_costs_and_clusters.py",)

MUTANTS = (
    # numerics
    Mutant(
        "numerics/kl.py",
        "1e6) * (1.0 + 1e-12)",
        "1e6) * (1.0 - 1e-12)",
        "the inverses of kl are rounded inward",
        KL,
    ),
    Mutant(
        "numerics/kl.py",
        "root * (1.0 - 4.0 * EPS))",
        "root * (1.0 + 4.0 * EPS))",
        "the lower inverse of kl is rounded up",
        KL,
    ),
    Mutant(
        "numerics/kl.py",
        "rounded = np.minimum(1.0, root",
        "rounded = np.minimum(1.0, -1e-8 + root",
        "the upper inverse of kl is 1e-8 too low",
        formulas("fo"),
    ),
    Mutant(
        "numerics/binomial.py",
        "target = log_delta - 1e-12",
        "target = log_delta + 1e-12",
        "Clopper and Pearson's limit is rounded down",
        BINOMIAL,
    ),
    Mutant(
        "numerics/binomial.py",
        "incomplete_beta_complement(k + 1.0, m - k, p)",
        "incomplete_beta_complement(k, m - k + 1.0, p)",
        "one error less is counted in a binomial tail",
        BINOMIAL,
    ),
    Mutant(
        "numerics/binomial.py",
        "np.where(inside, n - k + 1.0, 1.0), w)",
        "np.where(inside, n - k + 2.0, 1.0), w)",
        "the upper binomial tail is of one draw more",
        formulas("bin-margin"),
    ),
    Mutant(
        "numerics/beta.py",
        "np.where((a == 0.0) | (x >= 1.0), 1.0, value)",
        "np.where(x >= 1.0, 1.0, value)",
        "a row that nobody has right is not always lost",
        BETA,
    ),
    Mutant(
        "numerics/beta.py",
        "np.nextafter(a, np.inf), a)",
        "a, a)",
        "the incomplete beta function loses digits at large parameters",
        BINOMIAL,
    ),
    Mutant(
        "numerics/divergences.py",
        "return 0.5 * excess(b, a) + bend",
        "return 0.5 * excess(a, b) + bend",
        "the Dirichlet divergence is of the wrong direction in part",
        DIVERGENCES,
    ),
    Mutant(
        "numerics/divergences.py",
        "parts[..., :-1].sum(axis=-1) - parts[..., -1]",
        "parts[..., :-1].sum(axis=-1)",
        "the Dirichlet divergence lacks the term of the totals",
        DIVERGENCES,
    ),
    Mutant(
        "numerics/arithmetic.py",
        "* (1.0 + 2e-9) + 1e-9",
        "* (1.0 - 2e-9)",
        "the Dirichlet divergence is rounded down",
        ARITHMETIC,
    ),
    Mutant(
        "numerics/arithmetic.py",
        "beta_cdf(x, a, b)) - _beta_slack(a + b)",
        "beta_cdf(x, a, b)) + _beta_slack(a + b)",
        "the chance to share an error is rounded up",
        ARITHMETIC,
    ),
    Mutant(
        "numerics/maurer.py",
        "log1p((2.0 / 3.0",
        "log1p((1.0 / 3.0",
        "Maurer's constant is too small for more than a million rows",
        ("tests/numerics/test_maurer.py",),
    ),
    Mutant(
        "numerics/mixture.py",
        "_LOG_TERMS = log(_N_CATONI + 1.0)",
        "_LOG_TERMS = log(_N_CATONI - 15.0)",
        "the seventeen terms of the mixture are not paid for",
        ("tests/numerics/test_mixture.py",),
    ),
    # bounds: votes drawn from the weights
    Mutant(
        "bounds/gibbs.py",
        "draws = 2\n",
        "draws = 1\n",
        "`so` pays half of its divergence",
        formulas("so"),
    ),
    Mutant(
        "bounds/gibbs.py",
        "half = -(-self.n_draws // 2)",
        "half = self.n_draws // 2 + 1",
        "`bin` does not count ties among the draws as errors",
        formulas("bin"),
    ),
    Mutant(
        "bounds/gibbs.py",
        "factor = 4",
        "factor = 2",
        "`so` has a factor of two",
        formulas("so"),
    ),
    Mutant(
        "bounds/pac_bayes.py",
        "ar.log(n_rows) / 2",
        "ar.log(n_rows) / 4",
        "the constant of the kl inequality has the fourth root of m",
        formulas("fo"),
    ),
    Mutant(
        "bounds/gibbs.py",
        "min(1.0, mean + MEAN_SLACK)",
        "min(1.0, max(0.0, mean - 1e-9))",
        "means of losses are 1e-9 too low",
        formulas("fo"),
    ),
    Mutant(
        "bounds/gibbs.py",
        "complexity = (self.draws * kl + seeger",
        "complexity = (seeger",
        "`fo`, `so` and `bin` pay no divergence",
        formulas("fo"),
    ),
    Mutant(
        "bounds/chebyshev.py",
        'outward = rounded_down if choice["offset"] >= 0 else rounded_up',
        "outward = rounded_up",
        "`cctnd` rounds the Gibbs error inward",
        formulas("cctnd"),
    ),
    Mutant(
        "bounds/chebyshev.py",
        "inverse = ar.kl_inverse_lower if mu >= 0 else ar.kl_inverse_upper",
        "inverse = ar.kl_inverse_lower",
        "`cctnd` bounds the Gibbs error from the wrong side below zero",
        options("offset"),
    ),
    Mutant(
        "bounds/chebyshev.py",
        "tandem_cost = 2 * kl",
        "tandem_cost = kl",
        "`cctnd` pays half of the divergence of pairs",
        formulas("cctnd"),
    ),
    Mutant(
        "bounds/chebyshev.py",
        "return 2 if mu == 0 else 2 * others",
        "return 1 if mu == 0 else 2 * others",
        "`ccpbb` spends delta more than once on its offsets",
        formulas("ccpbb"),
    ),
    Mutant(
        "bounds/chebyshev.py",
        "cost_g = 2 * kl + ar.log(shares * len(bennett_grid(m)))",
        "cost_g = 2 * kl + ar.log(shares)",
        "`ccpbb` does not pay for the grid of Bennett's inequality",
        formulas("ccpbb"),
    ),
    Mutant(
        "bounds/chebyshev.py",
        "t * (1 - t)), K * K / 4)",
        "t * (1 - t)), K * K / 8)",
        "`ccpbb` caps the variance too low",
        formulas("ccpbb"),
    ),
    Mutant(
        "bounds/tallies.py",
        "unbiased = self.rows_of_pairs / np.maximum(1, self.rows_of_pairs - 1)",
        "unbiased = 1.0",
        "`ccpbb` takes the biased variance",
        formulas("ccpbb"),
    ),
    Mutant(
        "bounds/c_bound.py",
        "ar.log(ar.exp(log_xi) + m)",
        "log_xi",
        "the C-bound pays for one mean, not for two at once",
        formulas("c-bound"),
    ),
    Mutant(
        "bounds/c_bound.py",
        "constant = ar.log(2) + log_xi",
        "constant = log_xi",
        "the first form of the C-bound spends delta twice",
        options("first-form"),
    ),
    Mutant(
        "bounds/bin_margin.py",
        "(T * kl + ar.log(len(self.grid)) +",
        "(T * kl +",
        "`bin-margin` does not pay for its grid",
        formulas("bin-margin"),
    ),
    Mutant(
        "bounds/bin_margin.py",
        "np.clip(1 - right + MARGIN_SLACK, 0, 1)",
        "np.clip(1 - right - 1e-9, 0, 1)",
        "`bin-margin` takes the wrong votes too light",
        formulas("bin-margin"),
    ),
    # bounds: margins
    Mutant(
        "bounds/margins.py",
        "(margins + MARGIN_SLACK)[order]",
        "(margins - MARGIN_SLACK)[order]",
        "a margin of exactly g is not an error",
        options("equal-margins"),
    ),
    Mutant(
        "bounds/margins.py",
        "ar.number(4.75)",
        "ar.number(4.25)",
        "`bg` has a smaller constant",
        formulas("bg"),
    ),
    Mutant(
        "bounds/margins.py",
        "-(-2 * math.log(m) / g**2 * (1 + 1e-12) // 1)",
        "-(-math.log(m) / g**2 // 1)",
        "`bg+` draws half of the voters",
        formulas("bg+"),
    ),
    Mutant(
        "bounds/margins.py",
        "(draws * kl + ar.log(draws * (draws + 1)) + ar.log",
        "(draws * kl + ar.log",
        "`bg++` does not pay for the number of draws",
        formulas("bg++"),
    ),
    Mutant(
        "bounds/margins.py",
        "ar.log(d * m) - ar.log(terms.delta)",
        "ar.log(d) - ar.log(terms.delta)",
        "`gz` has a smaller constant",
        formulas("gz"),
    ),
    Mutant(
        "bounds/dirichlet/margin.py",
        "self.share(ar.number(terms.delta)))",
        "ar.number(terms.delta))",
        "`dirichlet-margin` does not pay for its grid of margins",
        formulas("dirichlet-margin"),
    ),
    Mutant(
        "bounds/dirichlet/margin.py",
        "e = ar.exp(-(K + 1) * g * g / 2)",
        "e = ar.exp(-(K + 1) * g * g)",
        "`dirichlet-margin` has the exponent that is wrong in print",
        formulas("dirichlet-margin"),
    ),
    Mutant(
        "bounds/dirichlet/margin.py",
        "np.minimum(1, (terms.n_outputs - 1) * e), e, e",
        "e, e, e",
        "`dirichlet-margin` counts one rival of many",
        formulas("dirichlet-margin"),
    ),
    # bounds: votes drawn from a Dirichlet distribution
    Mutant(
        "bounds/dirichlet/margin.py",
        "exponent = 2.0",
        "exponent = 4.0",
        "`dirichlet-stochastic` has the exponent that is wrong in print",
        formulas("dirichlet-stochastic"),
    ),
    Mutant(
        "bounds/dirichlet/margin.py",
        "risk = 2 * ar.kl_inverse_upper",
        "risk = ar.kl_inverse_upper",
        "`f2` without its factor",
        formulas("f2"),
    ),
    Mutant(
        "bounds/dirichlet/losses.py",
        "mean + 1e-10 * (1 + K / 1e10)",
        "max(0.0, mean - 1e-9)",
        "the loss of sampled votes is 1e-9 too low",
        formulas("f2"),
    ),
    Mutant(
        "bounds/partition.py",
        'delta / 2 if self.family == "best"',
        'delta if self.family == "best"',
        "`partition` takes the better of two without paying",
        formulas("partition"),
    ),
    Mutant(
        "bounds/_subset_sums.py",
        "room = limit + MARGIN_SLACK - left",
        "room = limit - MARGIN_SLACK - left",
        "a tie is not an error for the chance to share one",
        formulas("partition"),
    ),
    Mutant(
        "bounds/_subset_sums.py",
        "lost = sum(min(theta[i], theta[j])",
        "lost = sum(max(theta[i], theta[j])",
        "complementary voters are taken to be wrong more often than they are",
        options("one-family-of-two", "complements"),
    ),
    Mutant(
        "bounds/dirichlet/bound.py",
        "price = ar.log(len(self.margins)) + ar.log(1 / share)",
        "price = ar.log(1 / share)",
        "`dirichlet` does not pay for its margins",
        formulas("dirichlet"),
    ),
    Mutant(
        "bounds/dirichlet/bound.py",
        " + ar.log_binomial(d, int(alive))",
        "",
        "`dirichlet` does not pay for which voters have weight",
        options("zero-weight"),
    ),
    Mutant(
        "bounds/dirichlet/bound.py",
        "return min(1.0, right + distance), max(0.0, top - distance)",
        "return right, top",
        "`dirichlet` samples around other weights for nothing",
        options("dropped", "smoothed"),
    ),
    Mutant(
        "bounds/dirichlet/bound.py",
        "kl = self._divergence(ar, terms, centre)",
        "kl = self._divergence(ar, terms, centre) / 2",
        "`dirichlet` pays half of its divergence",
        formulas("dirichlet"),
    ),
    Mutant(
        "bounds/dirichlet/losses.py",
        "nx.beta_cdf(0.5 + margin, K * low, K * (1 - low))",
        "nx.beta_cdf(0.5, K * low, K * (1 - low))",
        "sampled votes lose without the margin",
        formulas("dirichlet"),
    ),
    Mutant(
        "bounds/dirichlet/losses.py",
        "high = rivals[line, column] + MARGIN_SLACK",
        "high = rivals[line, column] / 2",
        "rivals have half of their votes",
        formulas("dirichlet"),
    ),
    Mutant(
        "bounds/dirichlet/losses.py",
        "return np.asarray(lost[-1] + (below * steps).sum(axis=0))",
        "return np.asarray(lost[-1] + (below[:-1] * steps[1:]).sum(axis=0))",
        "losses among several classes are sums from below",
        ("tests/bounds/test_row_losses.py",),
    ),
    Mutant(
        "bounds/base.py",
        "raw * (1 + ROUNDING)",
        "raw - 1e-8",
        "every risk is 1e-8 too low",
        formulas("test-set"),
    ),
    # whole-number votes: prior and list
    Mutant(
        "bounds/occam_prior.py",
        "Fraction(self.tie_break) / len(offsets)",
        "Fraction(self.tie_break)",
        "the prior gives every class the whole mass of a tie-break",
        PRIOR,
    ),
    Mutant(
        "bounds/occam_prior.py",
        "Fraction(self.support) * subset / (1 << total)",
        "Fraction(self.support) * subset",
        "the prior gives large votes the mass of small ones",
        PRIOR,
    ),
    Mutant(
        "bounds/occam_prior.py",
        "Fraction(self.single) / d * alone",
        "Fraction(self.single) * alone",
        "the prior gives every single voter the whole mass",
        PRIOR,
    ),
    Mutant(
        "bounds/occam_prior.py",
        "Fraction(self.multinomial) / d**total",
        "Fraction(self.multinomial) / d",
        "the prior takes draws of votes as one draw",
        PRIOR,
    ),
    Mutant(
        "bounds/occam.py",
        "return 1 - self.fitted_mass(declared)",
        "return Fraction(1)",
        "whole-number votes do not pay for the list beside them",
        options("with-a-list"),
    ),
    Mutant(
        "bounds/occam.py",
        'self.fitted_mass(choice) * MEMBERS[choice["member"]]',
        "self.fitted_mass(choice)",
        "each member of the list spends the mass of all",
        ("tests/bounds/test_occam.py", "-k", "cost_their_share"),
    ),
    Mutant(
        "learning/fitted_vote.py",
        "labelled=False",
        "labelled=True",
        "labels that stand for none decide what a vote without labels knows",
        ("tests/learning/test_fitted_vote.py", "-k", "only_the_votes_count"),
    ),
    Mutant(
        "bounds/occam.py",
        'choice["seed"], fitting=False, stream',
        'choice["seed"], fitting=True, stream',
        "errors of a fitted vote are counted on its fitting rows",
        options("of-the-list"),
    ),
    Mutant(
        "bounds/occam.py",
        'if statistics["rows"] != rows:',
        "if False:",
        "a certificate of few of its rows verifies",
        VERIFY,
    ),
    # learning
    Mutant(
        "learning/_looks.py",
        'declared["seed"], fitting=True)',
        'declared["seed"], fitting=False)',
        "the list is fitted on the rows that certify it",
        LEAKS,
    ),
    Mutant(
        "learning/_answers.py",
        "folds.append(up_to - before)",
        "folds.append(0.0 * up_to)",
        "nothing is held out when kinds of votes are cross-validated",
        ("tests/learning/test_fitted_vote.py", "-k", "folds"),
    ),
    Mutant(
        "learning/fitted_vote.py",
        "np.vstack([answers.counts - held_out, answers.counts])",
        "np.vstack([answers.counts + 0 * held_out, answers.counts])",
        "kinds of votes are compared on rows that they were fitted on",
        ("tests/learning/test_fitted_vote.py", "-k", "coins"),
    ),
    Mutant(
        "learning/_looks.py",
        'rows.part(split, declared["seed"], fitting=True), None',
        "rows, None",
        "a vote is fitted, and cross-validated, on all rows",
        LEAKS,
    ),
    Mutant(
        "learning/_looks.py",
        "_is_enough(found, part.n_rows",
        "rows.errors(found.votes) < 9 and _is_enough(found, part.n_rows",
        "rows that certify a vote decide whether to fit it on more of them",
        LOOKS,
    ),
    Mutant(
        "certificate/verify.py",
        "    if split != told:",
        "    if False:",
        "where a fit stopped is not found again",
        LOOKS,
    ),
    Mutant(
        "bounds/occam.py",
        'choice["split"] in choice["looks"])',
        "True)",
        "a fit stops where it did not look",
        LOOKS,
    ),
    Mutant(
        "learning/whole_votes.py",
        "found = min(evaluations",
        "found = max(evaluations",
        "the worse of the learned votes is certified",
        ("tests/learning/test_whole_votes.py", "-k", "list_wins"),
    ),
    Mutant(
        "learning/whole_votes.py",
        "other_rows, unlabelled = self._other_rows(rows)",
        "other_rows, unlabelled = None if self.prior_votes is None else rows, None",
        "the list for other rows is fitted on the certifying ones",
        LEAKS,
    ),
    Mutant(
        "rows/split.py",
        "generator.advance(start)",
        "generator.advance(0)",
        "every block of rows has the same fitting part",
        BLOCKS,
    ),
    Mutant(
        "classifier/rows.py",
        "ask(fitting[fold != held_out], fitting[fold == held_out])",
        "ask(fitting, fitting[fold == held_out])",
        "out-of-fold votes are of members that saw the fold",
        SPLITTING,
    ),
    Mutant(
        "classifier/rows.py",
        "np.sort(order[n_fit:])",
        "np.sort(order[n_fit - 1 :])",
        "a row that members are fitted on certifies them",
        SPLITTING,
    ),
    Mutant(
        "classifier/estimator.py",
        "fitting, certifying = rows.split_rows(",
        "rows.split_rows(",
        "the classifier certifies on its fitting rows",
        ("tests/learning/test_leaks.py", "-k", "classifier"),
    ),
    Mutant(
        "classifier/rows.py",
        "return not estimator.depends_on_rows",
        "return True",
        "stumps with thresholds from the rows count as fixed",
        SPLITTING,
    ),
    Mutant(
        "classifier/searches.py",
        "certify(delta / candidates)",
        "certify(delta)",
        "candidates of a search around the classifier are not paid for",
        SEARCHES,
    ),
    Mutant(
        "classifier/searches.py",
        " and len(levels) < 2",
        "",
        "levels that were searched count as fixed in advance",
        SEARCHES,
    ),
    # certificates
    Mutant(
        "learning/whole_votes.py",
        "return replace(self, split=0.0)",
        "return self",
        "grouped certificates have a list fitted on rows that then certify it",
        GROUPS,
    ),
    Mutant(
        "certificate/make.py",
        "delta / len(groupings) / len(grouping.labels(self.rows))",
        "delta / len(groupings)",
        "every group spends all of delta",
        GROUPS,
    ),
    Mutant(
        "certificate/make.py",
        "maker.at(method, found, share)",
        "maker.at(method, found, delta)",
        "a learned vote's groups are computed with all of delta",
        GROUPS,
    ),
    Mutant(
        "certificate/_certify.py",
        "share = delta / len(methods)",
        "share = delta",
        "the best of three bounds costs nothing",
        LEVELS,
    ),
    Mutant(
        "certificate/_certify.py",
        "share = delta / sharing if simultaneous else delta",
        "share = delta",
        "bounds that hold together cost nothing",
        LEVELS,
    ),
    Mutant(
        "certificate/make.py",
        "best.ledger.items()} | others",
        "best.ledger.items()}",
        "the ledger hides the bounds that were tried",
        LEVELS,
    ),
    Mutant(
        "bounds/test_set.py",
        'origins = ("fixed",)',
        'origins = ("fixed", "given")',
        "the test-set bound of given weights is called a guarantee",
        LEVELS,
    ),
    Mutant(
        "certificate/text.py",
        ", rounding=ROUND_CEILING)",
        ")",
        "printed risks are rounded down",
        LEVELS,
    ),
    Mutant(
        "certificate/verification.py",
        "BELOW_EXACT, BELOW_FLOAT64 = 1e-15",
        "BELOW_EXACT, BELOW_FLOAT64 = 1e-6",
        "a risk that is 1e-8 too low verifies",
        LEVELS,
    ),
    Mutant(
        "certificate/verify.py",
        "spent > certificate.delta * (1 + 1e-12)",
        "spent > certificate.delta * 2",
        "a ledger that spends too much verifies",
        LEVELS,
    ),
    Mutant(
        "bounds/kinds.py",
        "self.tolerance * max(1.0, abs(counted))",
        "1e-6 * max(1.0, abs(counted))",
        "statistics that are not those of the rows verify",
        LEVELS,
    ),
    Mutant(
        "certificate/verify.py",
        "if number != told:",
        "if number < told:",
        "errors that are not those of the rows verify",
        LEVELS,
    ),
    Mutant(
        "certificate/verification.py",
        "return ([OTHER_VOTE], []) if own_words else",
        "return ([OTHER_VOTE], []) if not told.classes else",
        "a vote that this version does not fit is taken for one of another version",
        ("tests/certificate/test_forgery.py", "-k", "another_version"),
    ),
    # labels, files, blocks
    Mutant(
        "rows/blocks/counting.py",
        "for label in self.layout.labels), len(place)]",
        "for label in self.layout.labels), len(self.layout.labels)]",
        "an abstention becomes a vote when a later block adds labels",
        BLOCKS,
    ),
    Mutant(
        "rows/blocks/counting.py",
        "bits_for(len(self.labels) + self.any_missing)",
        "bits_for(len(self.labels))",
        "abstentions of four-label blocks are read as the first label",
        BLOCKS,
    ),
    Mutant(
        "rows/blocks/counting.py",
        "np.bincount(pattern, np.concatenate(values), len(first))",
        "np.bincount(pattern, minlength=len(first))",
        "rows that occur in two blocks are counted once",
        BLOCKS,
    ),
    Mutant(
        "rows/blocks/counting.py",
        "[part.fitting for part in parts]",
        "[part.fitting * (part is parts[-1]) for part in parts]",
        "fitting rows of earlier blocks certify",
        BLOCKS,
    ),
    Mutant(
        "rows/vocabulary.py",
        "if len(self._vocabulary.labels) > np.iinfo",
        "if len(self._vocabulary.labels) - 1 > np.iinfo",
        "label 256 is read as missing",
        FILES,
    ),
    Mutant(
        "rows/vocabulary.py",
        "self.shape = (needed, n_columns)",
        "self.shape = (needed - (len(numbers) > 1), n_columns)",
        "the last row of every block is overwritten",
        FILES,
    ),
    Mutant(
        "rows/files/delimited.py",
        "if pending:\n                yield",
        "if not pending:\n                yield",
        "rows at the end of a file with quotes are dropped",
        FILES,
    ),
    Mutant(
        "rows/labels.py",
        "dtype = np.min_scalar_type(len(code_of))",
        "dtype = np.min_scalar_type(len(code_of) - 1)",
        "an abstention among 256 classes is read as the first class",
        FILES,
    ),
    Mutant(
        "rows/labels.py",
        "out[rows][missing] = len(code_of)",
        "out[rows][missing] = 0",
        "a missing number is read as the first class",
        FILES,
    ),
    Mutant(
        "rows/tables.py",
        "return [place[name] for name in voters]",
        "return sorted(place[name] for name in voters)",
        "voters in another order get each other's weights",
        PREDICTOR,
    ),
    # the predictor
    Mutant(
        "rows/vote_sums.py",
        "winner[most == 0] = -1 if",
        "winner[most == 0] = 0 if",
        "a row that nobody votes on counts as right for the first class",
        PREDICTOR,
    ),
    Mutant(
        "rows/vote_sums.py",
        "winner[totals[:, place] > most] = place",
        "winner[totals[:, place] >= most] = place",
        "ties go to the last class",
        PREDICTOR,
    ),
    Mutant(
        "rows/predictor.py",
        "else winners(totals, self.fallback)",
        "else winners(totals)",
        "predictions do not use the certified fallback",
        PREDICTOR,
    ),
    Mutant(
        "rows/predictor.py",
        "SCALE = 2.0**52",
        "SCALE = 2.0**5",
        "predictions are by coarser weights than the certified ones",
        PREDICTOR,
    ),
    Mutant(
        "rows/scores.py",
        "np.where(tied(totals), -1, totals.argmax(axis=1))",
        "totals.argmax(axis=1)",
        "soft votes that are tied count as right",
        PREDICTOR,
    ),
    # out of bag, planning, command line
    Mutant(
        "bounds/tallies.py",
        "return int(self._rows_of_voters.min())",
        "return int(self._rows_of_voters.max())",
        "out of bag, m is the largest number of rows of a voter",
        OUT_OF_BAG,
    ),
    Mutant(
        "bounds/tallies.py",
        "return int(self.rows_of_pairs.min())",
        "return int(self.rows_of_pairs.max())",
        "out of bag, m is the largest number of rows of a pair",
        OUT_OF_BAG,
    ),
    Mutant(
        "bounds/tallies.py",
        "counts / np.maximum(rows, 1), 1.0)",
        "counts / np.maximum(rows, 1), 0.0)",
        "a voter without rows of its own has no errors",
        OUT_OF_BAG,
    ),
    Mutant(
        "bounds/tallies.py",
        "(self.ballots.codes[rows] != truth) & self._is_judged(rows)",
        "self.ballots.codes[rows] != truth",
        "out of bag, rows that a voter was fitted on count against it",
        OUT_OF_BAG,
    ),
    Mutant(
        "numerics/sequential.py",
        "before = np.logaddexp(before, math.log(_share_of_start(update)))",
        "before = np.logaddexp(before, math.log(0.5))",
        "a monitor bets anew at each update and does not pay for it",
        SEQUENTIAL,
    ),
    Mutant(
        "numerics/sequential.py",
        "tuple(w / math.fsum(raw) for w in raw)",
        "tuple(w for w in raw)",
        "the bets of a monitor have shares of more than one",
        SEQUENTIAL,
    ),
    Mutant(
        "numerics/sequential.py",
        "law = xlogy(k, p) + xlog1py(rows - k, -p), np.log(2.0 * np.arcsin(np.sqrt(p)))",
        "law = xlogy(k, p) + xlog1py(rows - k, -p), np.log(np.arcsin(np.sqrt(p)))",
        "the limit for all looks takes half of the law for the whole",
        SEQUENTIAL,
    ),
    Mutant(
        "monitoring/streams.py",
        "np.floor(parts).astype(np.int64)",
        "np.ceil(parts).astype(np.int64)",
        "losses of a monitor are rounded up",
        CLUSTERS,
    ),
    Mutant(
        "monitoring/streams.py",
        "if fed.alarm is None and fed.is_above:",
        "if fed.is_above:",
        "a later alarm takes the place of the first",
        MONITOR,
    ),
    Mutant(
        "monitoring/watched.py",
        "alpha / n_watched if limit < 1 else 0.0",
        "alpha if limit < 1 else 0.0",
        "each group of a monitor has all of alpha",
        MONITOR,
    ),
    Mutant(
        "monitoring/memory.py",
        "if seen.any() and not skip_seen:",
        "if seen.all() and not skip_seen:",
        "a batch with some rows that were fed before is fed",
        CLUSTERS,
    ),
    Mutant(
        "bounds/test_set.py",
        "limit = ar.sequential_upper if self.sequential else ar.clopper_pearson_upper",
        "limit = ar.clopper_pearson_upper",
        "looking while certifying is not paid for",
        STOPPING,
    ),
    Mutant(
        "cli/monitor.py",
        "write_atomically(state, now.to_json())",
        "state.write_text(now.to_json())",
        "a kill may leave half of a state",
        WATCHING_COMMAND,
    ),
    Mutant(
        "cli/monitor.py",
        "with locked(state):",
        "if True:",
        "two writers of one state lose rows",
        WATCHING_COMMAND,
    ),
    Mutant(
        "planning/fixed.py",
        "float(log_binomial_cdf(errors, rows, target_risk)) <= level",
        "float(log_binomial_cdf(errors, rows, target_risk)) <= level + 0.1",
        "planned rows do not reach the target",
        PLANNING,
    ),
    Mutant(
        "planning/fixed.py",
        'if vote == "fixed":\n        return 0.0',
        "if vote:\n        return 0.0",
        "plans for learned votes do not pay for learning",
        PLANNING,
    ),
    Mutant(
        "cli/results.py",
        "if not worst.risk <= max_risk:",
        "if not worst.empirical_risk <= max_risk:",
        "`--max-risk` compares the errors that were counted",
        GATE,
    ),
    Mutant(
        "cli/results.py",
        "worst = max(certificates, key=lambda certificate: certificate.risk)",
        "worst = min(certificates, key=lambda certificate: certificate.risk)",
        "`--max-risk` looks at the best group",
        GATE,
    ),
    Mutant(
        "cli/results.py",
        "if not worst.is_guarantee:\n        raise",
        "if False:\n        raise",
        "`--max-risk` passes without a guarantee",
        GATE,
    ),
    Mutant(
        "cli/errors.py",
        "TOO_RISKY = 1",
        "TOO_RISKY = 0",
        "a risk above `--max-risk` exits with 0",
        GATE,
    ),
    Mutant(
        "cli/errors.py",
        "NOT_VERIFIED = 3",
        "NOT_VERIFIED = 0",
        "a forged certificate exits with 0",
        ("tests/cli/test_cli_check.py",),
    ),
    Mutant(
        "cli/errors.py",
        "BAD_INPUT = 2",
        "BAD_INPUT = 0",
        "a file that cannot be read exits with 0",
        ("tests/cli/test_cli_refusals.py",),
    ),
    Mutant(
        "rows/files/read.py",
        "    known = numbers > 0\n",
        "    known = numbers >= 0\n",
        "rows without a true label certify, with any label",
        FORMATS,
    ),
    Mutant(
        "rows/files/long.py",
        "wrong = ((before != 0) & (before != numbers)) | (table[cells] != numbers)",
        "wrong = table[cells] != numbers",
        "a later vote of a judge, or a later true label of an item, replaces an earlier one",
        FORMATS,
    ),
    Mutant(
        "rows/cells.py",
        "    for one, other in zip(some[1:], others[1:], strict=True):\n        found |= one != other\n",
        "",
        "names that agree in eight bytes are one",
        FORMATS,
    ),
    Mutant(
        "rows/tables.py",
        "and not rows.equals(labels)",
        "and len(rows) != len(labels)",
        "labels of other rows are taken by position",
        ("tests/rows/test_checks.py",),
    ),
    Mutant(
        "rows/checks.py",
        "    if problem is not None:\n        raise",
        "    if False:\n        raise",
        "a column of item numbers is certified as a voter",
        ("tests/rows/test_checks.py",),
    ),
    # what is acted on
    Mutant(
        "numerics/bounded.py",
        "    cost = _LOG_2 * (1 + EPS) - log_level\n",
        "    cost = -log_level\n",
        "two limits on a mean loss share one level",
        BOUNDED,
    ),
    Mutant(
        "numerics/bounded.py",
        "    target = cost + math.log(len(STAKES)) * (1 + EPS)\n",
        "    target = cost\n",
        "the stakes of the mixture are not shared",
        BOUNDED,
    ),
    Mutant(
        "numerics/bounded.py",
        "sums = (terms - noise) @ count",
        "sums = (terms + noise) @ count",
        "the limit on a mean loss is rounded inward",
        BOUNDED,
    ),
    Mutant(
        "rows/clusters.py",
        "rounded: IntArray = -(-np.asarray(numerators, dtype=np.int64) * GRID // np.asarray(denominators))",
        "rounded: IntArray = np.asarray(numerators, dtype=np.int64) * GRID // np.asarray(denominators)",
        "losses of clusters are rounded down",
        DIFFERENCE,
    ),
    Mutant(
        "certificate/difference.py",
        "level = -ar.log(2 / ar.number(delta))",
        "level = -ar.log(1 / ar.number(delta))",
        "both sides of a difference have all of delta",
        DIFFERENCE,
    ),
    Mutant(
        "certificate/triage/rules.py",
        "        else:\n            carried = 0\n",
        "",
        "any threshold that passes is kept",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/rules.py",
        "own = level * carried / total",
        "own = level",
        "starting shares of thresholds are not paid",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/rules.py",
        'share = Fraction(delta) * SHARES["curve"] / len(places)',
        'share = Fraction(delta) * SHARES["curve"]',
        "the points of the curve share nothing",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/rules.py",
        "limit(ar, m - n, m, half / len(counts.answered))",
        "limit(ar, m - n, m, half)",
        "coverage is not paid for each threshold",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/rules.py",
        "even = ar.number(n) / m - ar.sqrt",
        "even = ar.number(n) / m - 0 * ar.sqrt",
        "coverage is what was counted",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/record.py",
        "return 1.0 if self.threshold is None else self.max_risk",
        "return min(point.risk for point in self.curve)",
        "the limit at the chosen threshold is reported",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/make.py",
        "cuts, starts = declared_cuts(vote, thresholds, always_odd(vote, rows))",
        "cuts, starts = fitted_cuts(vote, rows, 1.0, 0.05, 0.05)",
        "thresholds come from the certifying rows",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/make.py",
        "fitted_cuts(vote, fitting, certifying.n_rows / fitting.n_rows",
        "fitted_cuts(vote, certifying, certifying.n_rows / fitting.n_rows",
        "thresholds of learned votes come from the certifying rows",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/make.py",
        "vote = fit_vote(fitting, place,",
        "vote = fit_vote(rows, place,",
        "triage certifies a vote on rows it was fitted on",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/leads.py",
        "winner = np.where(tied(totals), -1, totals.argmax(axis=1))",
        "winner = totals.argmax(axis=1)",
        "tied soft votes are answered",
        TRIAGE,
    ),
    Mutant(
        "certificate/triage/record.py",
        "if self.place is not None and (allowed is None or self.place > allowed):",
        "if False:",
        "any threshold verifies",
        TRIAGE,
    ),
    Mutant(
        "certificate/groups.py",
        "return np.maximum(winner, 0)[rows.pattern_of_row]",
        "return winner[rows.pattern_of_row]",
        "rows without votes are of no predicted class",
        GROUPS,
    ),
    Mutant(
        "certificate/groups.py",
        "return [str(label) for label in rows.classes.tolist()]",
        "return [str(label) for label in rows.classes[np.unique(rows.labels)].tolist()][:1] * 1",
        "classes share delta by what was seen",
        GROUPS,
    ),
    Mutant(
        "certificate/losses/counting.py",
        "        places = -(-sums // (UNIT // GRID))",
        "        places = sums // UNIT * GRID",
        "costs in clusters are rounded down",
        LOSSES,
    ),
    Mutant(
        "certificate/losses/counting.py",
        "[float(scale)] if len(row) == len(costs) else []",
        "[0.0] if len(row) == len(costs) else []",
        "no answer is free",
        LOSSES,
    ),
    Mutant(
        "certificate/losses/record.py",
        "return not self.clusters and (self.costs is None or counting.are_errors(self.costs))",
        "return self.costs is None or counting.are_errors(self.costs)",
        "clusters are counted as errors of rows",
        LOSSES,
    ),
    Mutant(
        "certificate/units.py",
        "chosen = in_fitting_part(int(self.own.max()) + 1, split, seed)[self.own] == fitting",
        "chosen = in_fitting_part(len(self.own), split, seed) == fitting",
        "clusters are split row by row",
        LOSSES,
    ),
    Mutant(
        "certificate/losses/make.py",
        "        fitting, certifying = units.parts(split, seed)\n",
        "        fitting, certifying = units.parts(split, seed)[0], units\n",
        "costs are certified on rows that were fitted on",
        LOSSES,
    ),
)
