"""Does it hold? One hundred repetitions

Voters flip coins, weights are learned on 60 rows: the hardest case for a certificate, as all there
is to find is luck. The true error of any vote is 1/2. In the long run at most one repetition in
twenty may have a certificate below that; among a hundred it is a few more or less.
"""

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(0)
certified, empirical = [], []
for _ in range(100):
    votes, y = rng.integers(2, size=(60, 20)), rng.integers(2, size=60)
    certificate = vc.certify(votes, y, classes=[0, 1], split=0)
    certified.append(certificate.risk)
    empirical.append(certificate.empirical_risk)
print(f"below the true error: {np.mean(np.array(certified) < 0.5):.1%} of the certificates,")
print(f"                      {np.mean(np.array(empirical) < 0.5):.1%} of the empirical errors")

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
bins = np.linspace(0.2, 0.8, 37)
axes.hist(empirical, bins, color="grey", label="error on the certifying rows")
axes.hist(certified, bins, color="teal", alpha=0.8, label="certificate")
axes.axvline(0.5, color="tab:orange", linestyle="--", linewidth=1, label="true error")
axes.set(xlabel="error", ylabel="repetitions", ylim=(0, 24))
axes.legend(loc="upper center", ncols=3)
figure.savefig("validity.png", dpi=110)
