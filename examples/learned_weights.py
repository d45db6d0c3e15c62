"""Which voters count

Nine models of different kinds on the digits data. Learning finds who deserves votes;
the certificate covers that.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import votecert as vc

X, y = load_digits(return_X_y=True)
X_fit, X_certify, y_fit, y_certify = train_test_split(X, y, test_size=0.6, random_state=0)
models = {
    "logistic": LogisticRegression(max_iter=2000),
    "naive Bayes": GaussianNB(),
    "1 neighbour": KNeighborsClassifier(1),
    "25 neighbours": KNeighborsClassifier(25),
    "support vectors": SVC(),
    "forest": RandomForestClassifier(50, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "depth 4": DecisionTreeClassifier(max_depth=4, random_state=0),
    "depth 2": DecisionTreeClassifier(max_depth=2, random_state=0),
}
panel = [(name, model.fit(X_fit, y_fit)) for name, model in models.items()]
votes = vc.collect_votes(panel, X_certify)
plain = vc.certify(votes, y_certify, weights="uniform", classes=range(10))
learned = vc.certify(votes, y_certify, classes=range(10), voters=models)
print("plain vote:", plain)
print("learned:   ", learned)

errors = (votes != y_certify[:, None]).mean(axis=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True, layout="constrained")
left.barh(list(models), errors, color="grey")
left.set(xlabel="error of the voter")
right.barh(list(models), learned.weights, color="teal")
right.set(xlabel="learned weight")
left.invert_yaxis()
figure.savefig("learned_weights.png", dpi=110)
