"""A scikit-learn estimator: with a pipeline, in a grid search

`CertifiedVotingClassifier` splits the rows itself: some fit the ensemble, the others certify. Put the
pipeline inside, so that preprocessing sees the fitting rows only, and tune on rows of their own: what has
looked at a row cannot be certified by it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import votecert as vc

X, y = load_breast_cancer(return_X_y=True)
X_tune, X_rest, y_tune, y_rest = train_test_split(X, y, test_size=0.7, random_state=0)

pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(40, random_state=0))
classifier = vc.CertifiedVotingClassifier(pipeline, random_state=0)
grid = {"estimator__randomforestclassifier__max_features": ["sqrt", 0.5, 1.0]}
search = GridSearchCV(classifier, grid, cv=3, refit=False).fit(X_tune, y_tune)
print("chosen on the tuning rows:", search.best_params_)

classifier.set_params(**search.best_params_).fit(X_rest, y_rest)
print(classifier.certificate_.statement)

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
vc.CertificateCurveDisplay.from_estimator(classifier, ax=axes)
figure.savefig("pipeline.png", dpi=110)
