"""Certify a trained forest, and look at its margins

The forest is fitted on half of the digits; the other half certifies its plain vote. The picture shows
how clearly the trees agree on the certifying rows: a lead at or below zero is an error or a tie.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import votecert as vc

X, y = load_digits(return_X_y=True)
X_fit, X_certify, y_fit, y_certify = train_test_split(X, y, test_size=0.5, random_state=0)
forest = RandomForestClassifier(100, random_state=0).fit(X_fit, y_fit)

votes = vc.collect_votes(forest, X_certify)
certificate = vc.certify(votes, y_certify, weights="uniform", classes=forest.classes_)
print(certificate.statement)

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
vc.MarginDisplay.from_certificate(certificate, votes, y_certify, ax=axes)
figure.savefig("forest_margins.png", dpi=110)
