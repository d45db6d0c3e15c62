"""Every bound on the same vote

A forest of 25 trees and its plain vote. The dashed line is the share of certifying rows that the
vote gets wrong; hatched bars are formulas that are no guarantee.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import votecert as vc

X, y = make_classification(4000, 20, n_informative=8, flip_y=0.05, random_state=0)
forest = RandomForestClassifier(25, random_state=0).fit(X[:2000], y[:2000])
table = vc.compare(vc.collect_votes(forest, X[2000:]), y[2000:], classes=forest.classes_)
print(table)

figure, axes = plt.subplots(figsize=(6.4, 5), layout="constrained")
names = [certificate.bound for certificate in table]
bars = axes.barh(names, [certificate.risk for certificate in table], color="teal")
for bar, certificate in zip(bars, table, strict=True):
    if not certificate.is_guarantee:
        bar.set(hatch="//", facecolor="lightgrey")
axes.axvline(table[0].empirical_risk, color="black", linestyle="--", linewidth=1)
axes.invert_yaxis()
axes.set(xlabel="bound on the error, delta = 0.05", xlim=(0, 1))
figure.savefig("bounds.png", dpi=110)
