"""Which voters count

Twelve trees of different sizes, each fitted on a few columns of the breast-cancer data. Learning finds who
deserves votes; the certificate covers that, and is smaller than that of the plain vote.
"""

import matplotlib.pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import votecert as vc

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_fit, X_certify, y_fit, y_certify = train_test_split(X, y, test_size=0.6, random_state=0)
panel = []
for quantity in ("radius", "texture", "smoothness", "compactness", "concavity", "symmetry"):
    columns = [name for name in X if quantity in name]
    for depth in (1, 4):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        model = make_pipeline(make_column_transformer(("passthrough", columns)), tree)
        panel.append((f"{quantity}, depth {depth}", model.fit(X_fit, y_fit)))

votes = vc.collect_votes(panel, X_certify)
plain = vc.certify(votes, y_certify, weights="uniform", classes=[0, 1])
learned = vc.certify(votes, y_certify, classes=[0, 1], voters=[name for name, _ in panel])
print("plain vote:", plain)
print("learned:   ", learned)

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
vc.WeightsDisplay.from_certificate(learned, ax=axes)
figure.savefig("learned_weights.png", dpi=110)
