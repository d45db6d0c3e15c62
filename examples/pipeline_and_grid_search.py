"""A scikit-learn estimator: with a pipeline and a grid search inside

`CertifiedVotingClassifier` splits the rows itself: some fit the ensemble, the others certify. Put the
pipeline and the search inside, so that they see the fitting rows only: what has looked at a row cannot be
certified by it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import votecert as vc

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(40, random_state=0))
grid = {"randomforestclassifier__max_features": ["sqrt", 0.5, 1.0]}
classifier = vc.CertifiedVotingClassifier(GridSearchCV(pipeline, grid, cv=3), random_state=0).fit(X, y)
print("chosen on the fitting rows:", classifier.estimator_.best_params_)
print(classifier.certificate_.statement)

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
vc.CertificateCurveDisplay.from_estimator(classifier, ax=axes)
figure.savefig("pipeline.png", dpi=110)
