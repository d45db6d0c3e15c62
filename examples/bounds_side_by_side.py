"""Every bound on the same vote

A forest of 25 trees and its plain vote. Formulas that are no guarantee, because they are false as printed
or unchecked, look different.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import votecert as vc

X, y = make_classification(4000, 20, n_informative=8, flip_y=0.05, random_state=0)
forest = RandomForestClassifier(25, random_state=0).fit(X[:2000], y[:2000])
table = vc.compare(vc.collect_votes(forest, X[2000:]), y[2000:], classes=forest.classes_)
print(table)

figure, axes = plt.subplots(figsize=(6.8, 6), layout="constrained")
vc.BoundComparisonDisplay.from_table(table, ax=axes)
figure.savefig("bounds.png", dpi=110)
