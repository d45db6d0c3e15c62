"""No rows to spare: out-of-bag

A forest that was fitted on all rows can be certified on them, by judging each tree on the rows outside its
bag. That bound pays at least twice the error of a tree, so rows that were held out certify far better.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import votecert as vc

X, y = load_breast_cancer(return_X_y=True)
forest = RandomForestClassifier(100, random_state=0)
certificates = {
    f"out of bag, {bound}": vc.certify_oob(forest.fit(X, y), X, y, bound=bound)
    for bound in ("fo", "so", "cctnd")
}
half = vc.CertifiedVotingClassifier(forest, objective="uniform", random_state=0).fit(X, y)
certificates["half of the rows held out"] = half.certificate_
for name, certificate in certificates.items():
    print(f"{name:26s} {certificate.risk:.3f}  (error on the rows {certificate.empirical_risk:.3f})")

figure, axes = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
axes.barh(list(certificates), [certificate.risk for certificate in certificates.values()], color="teal")
axes.invert_yaxis()
axes.set(xlabel="certified error, delta = 0.05")
figure.savefig("out_of_bag.png", dpi=110)
