"""Votes of ensembles on Dask features."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import votecert as vc
from votecert.voters.collect import collect_votes

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
FOREST = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X[::2], NAMES[Y[::2]])
EXPECTED = collect_votes(FOREST, X)


def test_columns_in_several_chunks():
    votes = collect_votes(FOREST, da.from_array(X, chunks=(40, 3)))
    assert votes.shape == EXPECTED.shape
    assert votes.dtype == EXPECTED.dtype
    assert votes.chunks[0] == (40, 40, 40, 30)
    assert (votes.compute() == EXPECTED).all()


def test_empty_chunks_and_unknown_sizes():
    rows = da.from_array(X, chunks=((0, 70, 0, 80), 4))
    assert (collect_votes(FOREST, rows).compute() == EXPECTED).all()
    chosen = rows[rows[:, 0] > 5.0]
    votes = collect_votes(FOREST, chosen)
    assert np.isnan(votes.shape[0])
    assert (votes.compute() == EXPECTED[X[:, 0] > 5.0]).all()
    assert collect_votes(FOREST, rows[rows[:, 0] > 100.0]).compute().shape == (0, 7)


def test_dataframes_keep_their_column_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    forest = RandomForestClassifier(3, random_state=0).fit(frame, Y)
    votes = collect_votes(forest, dd.from_pandas(frame, npartitions=4))  # warns if names were lost
    assert (votes.compute() == collect_votes(forest, frame)).all()


def test_one_dimension_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        collect_votes(FOREST, da.from_array(X[:, 0]))


def test_a_forest_is_certified_without_its_votes_in_memory():
    frame = dd.from_pandas(pd.DataFrame(X).assign(y=NAMES[Y]), npartitions=3)
    votes = collect_votes(FOREST, frame[[0, 1, 2, 3]].to_dask_array())
    found = vc.certify(votes, frame["y"])
    assert found.risk == vc.certify(EXPECTED, NAMES[Y]).risk


class NotedTree(DecisionTreeClassifier):
    """A tree that notes in a file when it arrives in a process."""

    def __setstate__(self, state):
        super().__setstate__(state)
        with open(self.noted, "a") as file:
            file.write("arrived\n")


def test_the_ensemble_is_sent_once_to_each_worker(cluster, tmp_path):
    tree = NotedTree(max_depth=2, random_state=0).fit(X, Y)
    tree.noted = str(tmp_path / "arrivals")
    with cluster.as_current():
        votes = collect_votes([tree], da.from_array(np.tile(X, (8, 1)), chunks=(50, 4)))
        found = votes.compute()
    assert (found[:, 0] == np.tile(tree.predict(X), 8)).all()
    arrivals = (tmp_path / "arrivals").read_text().splitlines()
    assert 1 <= len(arrivals) <= 4 < votes.npartitions  # two workers, and who passes it on


@pytest.mark.filterwarnings("ignore:`apply_async` is deprecated")  # of joblib 1.5 to itself
def test_the_classifier_runs_on_a_cluster_through_joblib(cluster):
    def fitted(n_jobs):
        forest = RandomForestClassifier(4, random_state=0, n_jobs=n_jobs)
        return vc.CertifiedVotingClassifier(forest, random_state=0, n_jobs=n_jobs).fit(X, Y).certificate_

    with cluster.as_current(), joblib.parallel_config(backend="dask"):
        found = fitted(n_jobs=2)
    assert found.risk == fitted(n_jobs=None).risk


def test_what_votes_and_labels_are_both_made_from_is_made_once():
    made: list[int] = []

    def draw(number: int) -> tuple[np.ndarray, np.ndarray]:
        made.append(number)
        return np.arange(40).reshape(10, 4) % 2, np.arange(10) % 2

    pairs = [dask.delayed(draw, nout=2)(number) for number in range(3)]
    votes = da.concatenate([da.from_delayed(pair[0], (10, 4), int) for pair in pairs])
    y = da.concatenate([da.from_delayed(pair[1], (10,), int) for pair in pairs])
    assert vc.read_ballots(votes, y).n_rows == 30
    assert sorted(made) == [0, 1, 2]
