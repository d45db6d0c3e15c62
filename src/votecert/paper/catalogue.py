"""The ten data sets of the paper: where they come from and how to know them again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from votecert.datasets import tictactoe
from votecert.paper.formats import (
    Array,
    Parsed,
    class_codes,
    parse_idx,
    parse_letters,
    parse_libsvm,
    parse_numbers,
)

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
IDX = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
IDX_TEST = ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")


@dataclass(frozen=True)
class Entry:
    """One data set.

    Attributes
    ----------
    name, title, source, licence : str
    shape : (rows, features)
    class_counts : tuple of int
        Rows of each class; empty where only the number of classes is known.
    n_classes : int
    fingerprint : str or None
        :func:`fingerprint` of the numbers; None where no complete copy was at hand to take it from.
    urls : tuple of str
        The published files.
    parse : callable
        From the contents of those files (unpacked) to features and labels.
    generate : callable, optional
        For a data set that follows from rules.
    """

    name: str
    title: str
    shape: tuple[int, int]
    class_counts: tuple[int, ...]
    n_classes: int
    source: str
    licence: str
    fingerprint: str | None
    urls: tuple[str, ...] = ()
    parse: Callable[[list[bytes]], Parsed] = field(default=lambda contents: parse_numbers(b"".join(contents)))
    generate: Callable[[], Parsed] | None = None

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return self.n_classes == 2

    def check(self, X: Array, y: Array) -> None:
        """Refuse numbers that are not this data set."""
        if X.shape != self.shape or y.shape != self.shape[:1]:
            raise ValueError(f"{self.name} should have the shape {self.shape}, not {X.shape}.")
        counts = tuple(np.bincount(y).tolist())
        if len(counts) != self.n_classes:
            raise ValueError(f"{self.name} should have {self.n_classes} classes, not {len(counts)}.")
        if self.class_counts and counts != self.class_counts:
            raise ValueError(f"{self.name} should have {self.class_counts} rows a class, not {counts}.")
        if self.fingerprint is not None and fingerprint(X, y) != self.fingerprint:
            raise ValueError(
                f"The checksum of {self.name} is wrong: it has the right shape but other numbers in it. "
                "Delete the file and get it again."
            )


def fingerprint(X: Array, y: Array) -> str:
    """SHA-256 of the numbers, whatever types and file they were stored in.

    Examples
    --------
    >>> X, y = np.eye(2), np.array([0, 1])
    >>> fingerprint(X, y) == fingerprint(X.astype(np.uint8), y.astype(np.uint8))
    True
    """
    digest = hashlib.sha256()
    for start in range(0, len(X), 4096):  # in blocks, so that the copy stays small
        digest.update(np.ascontiguousarray(X[start : start + 4096], dtype="<f4").tobytes())
    digest.update(np.ascontiguousarray(y, dtype="<i4").tobytes())
    return digest.hexdigest()


def _tictactoe() -> Parsed:
    """Cells as ordinal codes in alphabetical order: blank 0, o 1, x 2."""
    found = tictactoe()
    return np.choose(found.X.astype(int) + 1, [1, 0, 2]).astype(np.uint8), class_codes(found.y)


def _libsvm(n_features: int, contents: list[bytes]) -> Parsed:
    return parse_libsvm(b"\n".join(contents), n_features)


def _letters(contents: list[bytes]) -> Parsed:
    return parse_letters(b"\n".join(contents))


def _images(contents: list[bytes]) -> Parsed:
    train, train_labels, test, test_labels = map(parse_idx, contents)
    X = np.concatenate([train, test])
    return X.reshape(len(X), -1), np.concatenate([train_labels, test_labels])


CC_BY = "CC BY 4.0 (UCI)"
NO_LICENCE = "none stated (LIBSVM)"

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            *("haberman", "Haberman", (306, 3), (225, 81), 2),
            source="Haberman's Survival, UCI",
            licence=CC_BY,
            fingerprint="448c6cf1c7b8a125a2165d5e8e4ccc5f5fc2e3f36c55eb3aae64299ef5af5ab2",
            urls=(UCI + "haberman/haberman.data",),
        ),
        Entry(
            *("tictactoe", "TicTacToe", (958, 9), (332, 626), 2),
            source="Tic-Tac-Toe Endgame, made from the rules of the game; the boards of the UCI set",
            licence="none needed",
            fingerprint="eb36de2ce24b33a4fd0faabb342f65999fb2a2e6f79aaba937d449ab8420c426",
            generate=_tictactoe,
        ),
        Entry(
            *("mushrooms", "Mushrooms", (8124, 22), (4208, 3916), 2),
            source="Mushroom, UCI; a missing value is a category of its own",
            licence=CC_BY,
            fingerprint="85b9dd778e0b4262a97187160727f76a7fc805174eaea2cf39bc9b61903780c3",
            urls=(UCI + "mushroom/agaricus-lepiota.data",),
            parse=_letters,
        ),
        Entry(
            *("adult", "Adult", (32561, 123), (24720, 7841), 2),
            source="Adult in binary features, LIBSVM a9a (the rows of a1a and a1a.t)",
            licence="CC BY 4.0 (UCI Adult); LIBSVM states none",
            fingerprint="c5d80327bd6674f0fdd26e956058727d1bcca58ddb3a0aa82ed6f2991402d745",
            urls=(LIBSVM + "binary/a9a",),
            parse=partial(_libsvm, 123),
        ),
        Entry(
            *("codrna", "CodRNA", (59535, 8), (39690, 19845), 2),
            source="cod-rna, LIBSVM (Uzilov et al., 2006), training file",
            licence=NO_LICENCE,
            fingerprint="7f05f03cdedfa8350e7f2bbfbc488d3ba10ed3df71b46ac8fd749750a4ffd103",
            urls=(LIBSVM + "binary/cod-rna",),
            parse=partial(_libsvm, 8),
        ),
        Entry(
            *("pendigits", "Pendigits", (10992, 16)),
            (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055),
            10,
            source="Pen-Based Recognition of Handwritten Digits, UCI",
            licence=CC_BY,
            fingerprint="9b980bd0e4e6a9512a65c2b5c12fcb9cd04d6ab4c1ad4c263920ead21515d0fb",
            urls=(UCI + "pendigits/pendigits.tra", UCI + "pendigits/pendigits.tes"),
        ),
        Entry(
            *("protein", "Protein", (24387, 357), (), 3),
            source="protein, LIBSVM, training and test file",
            licence=NO_LICENCE,
            fingerprint=None,
            urls=(LIBSVM + "multiclass/protein.bz2", LIBSVM + "multiclass/protein.t.bz2"),
            parse=partial(_libsvm, 357),
        ),
        Entry(
            *("sensorless", "Sensorless", (58509, 48), (5319,) * 11, 11),
            source="Dataset for Sensorless Drive Diagnosis, UCI",
            licence=CC_BY,
            fingerprint="5bb056b20e1660882fa0cb366e9ee93dbf2217f2e0f011c68daa5bf51ca6d241",
            urls=(UCI + "00325/Sensorless_drive_diagnosis.txt",),
        ),
        Entry(
            *("mnist", "MNIST", (70000, 784)),
            (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
            10,
            source="MNIST database of handwritten digits (LeCun, Cortes, Burges)",
            licence="no formal text; commonly distributed as CC BY-SA 3.0",
            fingerprint="7b0bed20e895662da4df7b16eb2c0f1fc1d3318fe2cfedc68164c998bad844f2",
            urls=tuple(MNIST + name for name in (*IDX, *IDX_TEST)),
            parse=_images,
        ),
        Entry(
            *("fashion", "Fashion", (70000, 784), (7000,) * 10, 10),
            source="Fashion-MNIST, Zalando Research",
            licence="MIT",
            fingerprint="e5a89dea1fb92660e15eeb72ad190b2fe158f55d2abb49198d17e8b586a0d9bc",
            urls=tuple(ZALANDO + name for name in (*IDX, *IDX_TEST)),
            parse=_images,
        ),
    )
}
"""The data sets, small ones first, then many rows, then many features."""


def find_entry(name: str) -> Entry:
    """The data set with this name.

    Examples
    --------
    >>> find_entry("haberman").shape
    (306, 3)
    """
    if name not in CATALOGUE:
        raise ValueError(f"The paper has no data set {name!r}. It has: {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]
