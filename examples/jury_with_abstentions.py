"""A jury that may abstain

Judges refuse some items. A missing vote is an abstention; the certificate is about the answer
the others give.
"""

import numpy as np

import votecert as vc

rng = np.random.default_rng(1)
truth = rng.choice(["harmful", "safe"], size=800)
other = np.where(truth == "safe", "harmful", "safe")
right = rng.random((800, 5)) < [0.92, 0.88, 0.8, 0.7, 0.6]
votes = np.where(right, truth[:, None], other[:, None]).astype(object)
votes[rng.random((800, 5)) < [0.05, 0.3, 0.1, 0.0, 0.0]] = None

certificate = vc.certify(votes, truth, classes=["harmful", "safe"], fallback="harmful", voters="ABCDE")
print(certificate.statement)
for judge, weight in zip(certificate.voters, certificate.weights, strict=True):
    print(f"  judge {judge}: {weight:.2f}")
