"""Data sets: catalogue, parsers, folder, downloads from a server on this machine."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import struct
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from votecert.paper import catalogue
from votecert.paper import download as downloading
from votecert.paper import load as loading
from votecert.paper.catalogue import CATALOGUE, Entry, fingerprint
from votecert.paper.download import DownloadError, download
from votecert.paper.formats import parse_idx, parse_libsvm, parse_numbers, unpacked

CONTENT = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    """Serves ``server.files``; understands ranges unless told not to; may break off."""

    def do_GET(self):
        content = self.server.files.get(self.path)
        self.server.asked.append(self.headers.get("Range"))
        if content is None:
            self.send_error(404)
            return
        start = 0
        if self.server.ranges and self.headers.get("Range"):
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            if start >= len(content):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        stop = self.server.breaks_after or len(content)
        self.wfile.write(content[start : max(start, stop)])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.files, served.asked, served.ranges, served.breaks_after = {"/file.bin": CONTENT}, [], True, None
    served.url = f"http://127.0.0.1:{served.server_port}"
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


class TestDownload:
    def test_progress_and_checksum(self, server, tmp_path):
        seen = []
        digest = hashlib.sha256(CONTENT).hexdigest()
        download(
            server.url + "/file.bin", tmp_path / "a" / "f", sha256=digest, progress=lambda *x: seen.append(x)
        )
        assert (tmp_path / "a" / "f").read_bytes() == CONTENT
        assert seen[-1] == (len(CONTENT), len(CONTENT))
        assert not (tmp_path / "a" / "f.part").exists()

    def test_is_not_repeated(self, server, tmp_path):
        (tmp_path / "f").write_bytes(b"by hand")
        download(server.url + "/file.bin", tmp_path / "f")
        assert server.asked == []

    def test_broken_connection_is_resumed(self, server, tmp_path):
        server.breaks_after = 100_000
        with pytest.raises(DownloadError, match=r"broke off|IncompleteRead"):
            download(server.url + "/file.bin", tmp_path / "f")
        assert not (tmp_path / "f").exists()
        server.breaks_after = None
        download(server.url + "/file.bin", tmp_path / "f")
        assert server.asked == [None, "bytes=100000-"]
        assert (tmp_path / "f").read_bytes() == CONTENT

    def test_server_without_ranges_starts_again(self, server, tmp_path):
        server.ranges = False
        (tmp_path / "f.part").write_bytes(b"xyz")
        download(server.url + "/file.bin", tmp_path / "f")
        assert (tmp_path / "f").read_bytes() == CONTENT

    def test_part_longer_than_the_file_is_thrown_away(self, server, tmp_path):
        (tmp_path / "f.part").write_bytes(CONTENT + b"more")
        download(server.url + "/file.bin", tmp_path / "f")
        assert (tmp_path / "f").read_bytes() == CONTENT

    def test_wrong_checksum(self, server, tmp_path):
        with pytest.raises(DownloadError, match="checksum"):
            download(server.url + "/file.bin", tmp_path / "f", sha256="0" * 64)
        assert list(tmp_path.iterdir()) == []

    def test_missing_file(self, server, tmp_path):
        with pytest.raises(DownloadError, match="Not Found"):
            download(server.url + "/nothing", tmp_path / "f")

    def test_no_network_names_file_and_place(self, tmp_path):
        with pytest.raises(DownloadError) as caught:
            download("http://127.0.0.1:9/rows.data", tmp_path / "downloads" / "rows.data")
        assert "rows.data" in str(caught.value)
        assert str(tmp_path / "downloads") in str(caught.value)


def tiny_entry(**changes) -> Entry:
    X, y = np.array([[0.5, 0, 2], [0, 1, 0], [0, 0, 0]]), np.array([2, 0, 1])
    settings = {
        "name": "tiny",
        "title": "Tiny",
        "shape": (3, 3),
        "class_counts": (1, 1, 1),
        "n_classes": 3,
        "source": "here",
        "licence": "none",
        "fingerprint": fingerprint(X, y),
        "urls": ("http://127.0.0.1:9/tiny.bz2", "http://127.0.0.1:9/tiny.t.bz2"),
        "parse": CATALOGUE["protein"].parse,
    }
    return Entry(**settings | changes)


@pytest.fixture
def tiny(monkeypatch):
    """A data set in the format of protein: two packed LIBSVM files."""
    entry = tiny_entry(parse=lambda contents: parse_libsvm(b"\n".join(contents), 3))
    monkeypatch.setitem(catalogue.CATALOGUE, "tiny", entry)
    return entry


FILES = {"tiny.bz2": b"2 1:0.5 3:2 \n0 2:1\n", "tiny.t.bz2": b"1 \n"}


class TestFetch:
    def test_from_the_source_into_the_folder(self, tiny, server, tmp_path, monkeypatch):
        server.files = {f"/{name}": bz2.compress(text) for name, text in FILES.items()}
        urls = tuple(f"{server.url}/{name}" for name in FILES)
        changed = tiny_entry(parse=tiny.parse, urls=urls)
        monkeypatch.setitem(catalogue.CATALOGUE, "tiny", changed)
        heard = []
        path = loading.fetch("tiny", tmp_path, lambda *news: heard.append(news))
        assert path == tmp_path / "tiny.npz"
        assert {name for name, _, _ in heard} == set(FILES)
        X, y = loading.load("tiny", tmp_path)
        assert X.tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, 0]]
        assert y.tolist() == [2, 0, 1]
        server.files = {}
        assert loading.fetch("tiny", tmp_path) == path

    def test_protein_from_a_server_with_its_two_files(self, server, tmp_path, monkeypatch):
        """Its own entry, parser and checks; made-up rows in the number and the format of the real ones."""
        entry = CATALOGUE["protein"]
        server.url += "/multiclass"
        names = [url.rpartition("/")[2] for url in entry.urls]
        for name, n_rows, first in zip(names, (17766, 6621), (0, 17766), strict=True):
            lines = [f"{k % 3} {1 + k % 357}:{k % 7}.5 \n" for k in range(first, first + n_rows)]
            server.files[f"/multiclass/{name}"] = bz2.compress("".join(lines).encode(), 1)
        local = tuple(f"{server.url}/{name}" for name in names)
        monkeypatch.setitem(catalogue.CATALOGUE, "protein", replace(entry, urls=local))
        server.breaks_after = 1000
        with pytest.raises(DownloadError, match=r"protein\.bz2"):
            loading.fetch("protein", tmp_path)
        server.breaks_after = None
        loading.fetch("protein", tmp_path)
        assert server.asked == [None, "bytes=1000-", None]
        X, y = loading.load("protein", tmp_path)
        assert np.array_equal(y, np.arange(24387) % 3)
        assert X[20000, 20000 % 357] == 20000 % 7 + 0.5
        assert np.count_nonzero(X) == 24387

    def test_files_put_there_by_hand_need_no_network(self, tiny, tmp_path):
        with pytest.raises(DownloadError, match=r"tiny\.bz2"):
            loading.fetch("tiny", tmp_path)
        for name, text in FILES.items():
            (tmp_path / "downloads" / "tiny" / name).write_bytes(bz2.compress(text))
        loading.fetch("tiny", tmp_path)
        assert loading.load("tiny", tmp_path)[0].shape == (3, 3)

    def test_other_numbers_of_the_right_shape_are_refused(self, tiny, tmp_path):
        folder = tmp_path / "downloads" / "tiny"
        folder.mkdir(parents=True)
        (folder / "tiny.bz2").write_bytes(bz2.compress(b"2 1:0.5 3:9\n0 2:1\n"))
        (folder / "tiny.t.bz2").write_bytes(bz2.compress(b"1\n"))
        with pytest.raises(ValueError, match="checksum of tiny is wrong"):
            loading.fetch("tiny", tmp_path)
        assert not (tmp_path / "tiny.npz").exists()

    @pytest.mark.parametrize("name", ["haberman", "mushrooms", "mnist"])
    @pytest.mark.parametrize("content", [b"", b"<html>Not found</html>"])
    def test_files_with_something_else_are_named(self, tmp_path, name, content):
        folder = tmp_path / "downloads" / name
        folder.mkdir(parents=True)
        for url in CATALOGUE[name].urls:
            packed = gzip.compress(content) if url.endswith(".gz") else content
            (folder / url.rpartition("/")[2]).write_bytes(packed)
        with pytest.raises(ValueError, match=f"not those of {name}.*delete them"):
            loading.fetch(name, tmp_path)

    def test_the_number_of_classes_is_told_where_their_rows_are_not_known(self):
        entry = tiny_entry(class_counts=(), fingerprint=None)
        with pytest.raises(ValueError, match="3 classes, not 2"):
            entry.check(np.zeros((3, 3)), np.array([0, 1, 1]))


class TestLoad:
    def test_missing_file_says_what_to_do(self, tmp_path, monkeypatch):
        monkeypatch.setenv("VOTECERT_DATA", str(tmp_path))
        with pytest.raises(FileNotFoundError) as caught:
            loading.load("haberman")
        for part in ("haberman.npz", str(tmp_path), "VOTECERT_DATA", "--download", "haberman.data"):
            assert part in str(caught.value)

    def test_damaged_file(self, tmp_path):
        (tmp_path / "haberman.npz").write_bytes(b"PK but not really")
        with pytest.raises(ValueError, match="damaged"):
            loading.load("haberman", tmp_path)

    def test_wrong_shape_and_counts(self, tmp_path):
        np.savez(tmp_path / "haberman.npz", X=np.zeros((3, 3)), y=np.zeros(3, dtype=int))
        with pytest.raises(ValueError, match=r"shape \(306, 3\)"):
            loading.load("haberman", tmp_path)
        np.savez(tmp_path / "haberman.npz", X=np.zeros((306, 3)), y=np.arange(306) % 2)
        with pytest.raises(ValueError, match="rows a class"):
            loading.load("haberman", tmp_path)

    def test_unknown_name(self):
        with pytest.raises(ValueError, match="no data set 'iris'"):
            loading.load("iris")

    def test_tictactoe_needs_nothing(self, tmp_path):
        X, y = loading.load("tictactoe", tmp_path)
        assert np.bincount(y).tolist() == [332, 626]
        assert set(np.unique(X)) == {0, 1, 2}
        assert loading.fetch("tictactoe", tmp_path) is None
        x_moves, o_moves = (X == 2).sum(axis=1), (X == 1).sum(axis=1)
        assert np.isin(x_moves - o_moves, [0, 1]).all()  # x begins


def test_every_entry_is_complete():
    for entry in CATALOGUE.values():
        assert entry.source
        assert entry.licence
        assert bool(entry.urls) != (entry.generate is not None)
        assert not entry.class_counts or sum(entry.class_counts) == entry.shape[0]
        assert (entry.fingerprint is None) == (entry.name == "protein")


def test_idx_round_trip_and_refusals():
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    content = struct.pack(">HBB3I", 0, 8, 3, 2, 3, 4) + images.tobytes()
    assert np.array_equal(parse_idx(content), images)
    with pytest.raises(ValueError, match="complete IDX"):
        parse_idx(content[:-1])


def test_images_are_flattened_in_order():
    def idx(array):
        return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()

    images, labels = np.arange(8, dtype=np.uint8).reshape(2, 2, 2), np.array([3, 1], dtype=np.uint8)
    X, y = CATALOGUE["mnist"].parse([idx(images), idx(labels), idx(images[:1]), idx(labels[:1])])
    assert X.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]
    assert y.tolist() == [3, 1, 3]


def test_libsvm_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="Line 1"):
        parse_libsvm(b"1 4:1\n", 3)
    with pytest.raises(ValueError, match="Line 1"):
        parse_libsvm(b"1 0:1\n", 3)


def test_packed_files():
    assert unpacked("a.gz", gzip.compress(b"x")) == b"x"
    assert unpacked("a.data", b"x") == b"x"
    with pytest.raises(ValueError, match=r"a\.bz2 cannot be unpacked"):
        unpacked("a.bz2", b"no")


def test_numbers_with_commas_and_blanks():
    X, y = parse_numbers(b"1, 2,3\n4 5 6\n\n")
    assert X.tolist() == [[1, 2], [4, 5]]
    assert y.tolist() == [3, 6]


def test_timeout_is_finite():
    assert 0 < downloading.TIMEOUT < 300
