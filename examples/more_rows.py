"""The certificate falls as rows are added

A jury of seven voters, two of them good. The certificate for learned weights, the empirical error,
and the error on many new rows. Each size has fresh rows, so the curve has bumps; and each certificate
may be wrong with probability 5 %: the one at 1600 rows is, by bad luck, below the error on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(0)
accuracy = [0.9, 0.85, 0.65, 0.65, 0.6, 0.6, 0.55]


def jury(rows: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(2, size=rows)
    return np.where(rng.random((rows, len(accuracy))) < accuracy, y[:, None], 1 - y[:, None]), y


new_votes, new_y = jury(200_000)
sizes = [50, 100, 200, 400, 800, 1600, 3200, 6400]
certified, empirical, actual = [], [], []
for size in sizes:
    certificate = vc.certify(*jury(size), classes=[0, 1])
    certified.append(certificate.risk)
    empirical.append(certificate.empirical_risk)
    actual.append(np.mean(certificate.predict(new_votes) != new_y))
    print(f"{size:5d} rows: certificate {certified[-1]:.4f}, error on new rows {actual[-1]:.4f}")

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
axes.plot(sizes, certified, "o-", color="teal", label="certificate")
axes.plot(sizes, actual, "s-", color="tab:orange", label="error on 200 000 new rows")
axes.plot(sizes, empirical, ":", color="grey", label="error on the certifying rows")
axes.set(xscale="log", xlabel="certifying rows", ylabel="error", ylim=(0, None))
axes.legend()
figure.savefig("more_rows.png", dpi=110)
