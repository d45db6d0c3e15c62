"""A certificate for each group, and for each class

Small overall, large for some: five readers judge scans of two clinics, and find it harder in clinic B.
All certificates of a table hold together; the smaller a group, the wider the gap between its error and
its certificate.
"""

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(0)
truth = rng.choice(["healthy", "ill"], p=[0.7, 0.3], size=3000)
clinic = rng.choice(["A", "B"], p=[0.8, 0.2], size=3000)
accuracy = np.where(clinic == "A", 0.9, 0.8) - np.where(truth == "ill", 0.08, 0)
right = rng.random((3000, 5)) < accuracy[:, None]
other = np.where(truth == "ill", "healthy", "ill")
votes = np.where(right, truth[:, None], other[:, None])

classes = ["ill", "healthy"]  # a tie goes to the first
everybody = vc.certify(votes, truth, classes=classes)
by_clinic = vc.certify(votes, truth, classes=classes, groups=clinic)
by_class = vc.certify(votes, truth, classes=classes, groups="class")
print(everybody.statement)
print(by_clinic)
print(by_class)

bars = [("all rows", everybody)]
bars += [(f"clinic {certificate.group}", certificate) for certificate in by_clinic]
bars += [(f"truly {certificate.group}", certificate) for certificate in by_class]
names = [name for name, _ in bars]
figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.barh(names, [certificate.risk for _, certificate in bars], color="teal", label="certificate")
axes.barh(names, [certificate.empirical_risk for _, certificate in bars], color="tab:orange", height=0.3)
axes.plot([], color="tab:orange", linewidth=4, label="error on the certifying rows")
axes.invert_yaxis()
axes.set(xlabel="error")
axes.legend(loc="upper right")
figure.savefig("groups_and_classes.png", dpi=110)
