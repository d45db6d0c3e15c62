"""Wrong blocks stop with their number; a lost worker changes nothing; nothing is left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scale_problems import drawn

from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots
from votecert.rows.blocks.spill import write_run

VOTES, Y = drawn(0, 1000, 4, 2)


def blocks(wrong: dict[int, tuple] | None = None, size: int = 100):
    for number, start in enumerate(range(0, 1000, size)):
        block = VOTES[start : start + size], Y[start : start + size]
        yield (wrong or {}).get(number, block)


def as_dask(pairs):
    import dask
    import dask.array as da

    delayed = [(dask.delayed(votes), dask.delayed(y)) for votes, y in pairs]
    return (
        da.concatenate(
            [da.from_delayed(v, (np.nan, 4), VOTES.dtype) for v, _ in delayed], allow_unknown_chunksizes=True
        ),
        da.concatenate(
            [da.from_delayed(y, (np.nan,), Y.dtype) for _, y in delayed], allow_unknown_chunksizes=True
        ),
    )


HOLES = np.where(np.eye(100, 4) > 0, np.nan, 0.0)

WRONG = {
    "labels": ((VOTES[:100] + 7, Y[:100]), {"classes": [0, 1]}, ValueError, "not among the declared classes"),
    "fractions": ((VOTES[:100] / 2, Y[:100]), {}, ValueError, "no class label"),
    "length": ((VOTES[:99], Y[:100]), {}, ValueError, "99 rows but y has 100"),
    "voters": ((VOTES[:100, :3], Y[:100]), {}, ValueError, "has 3 voters but block . has 4"),
    "dimensions": ((VOTES[0], Y[:4]), {}, ValueError, "two dimensions"),
    "strings": ((VOTES[:100].astype(str), Y[:100].astype(str)), {}, TypeError, "strings and numbers"),
    "missing truth": ((VOTES[:100], HOLES[:, 0]), {}, ValueError, "y has no label in row 0"),
    "missing votes": ((HOLES, Y[:100]), {"can_abstain": False}, ValueError, "Voter 0 has no vote in row 0"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_block_stops_with_its_number(kind, tmp_path):
    block, options, error, message = WRONG[kind]
    for votes, y in ((blocks({7: block}), None), as_dask(blocks({7: block}))):
        with pytest.raises(error, match=rf"(?i)block 7.*{message}"):
            read_ballots(votes, y, spill_folder=tmp_path, **options)
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["labels", "voters", "strings"])
def test_a_wrong_block_stops_a_cluster_too(kind, cluster):
    block, options, error, message = WRONG[kind]
    with pytest.raises(error, match=rf"(?i)block 7.*{message}"):
        read_ballots(*as_dask(blocks({7: block})), client=cluster, **options)


def test_an_iterator_that_breaks_gives_no_ballots(tmp_path):
    def broken():
        yield from list(blocks())[:5]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        read_ballots(broken(), spill_folder=tmp_path, memory_budget=1000)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((iter([]), None), ValueError, "no rows"),
        ((iter([(VOTES[:0], Y[:0])]), None), ValueError, "no rows"),
        ((iter([VOTES]), None), TypeError, r"Block 0 must be a pair \(votes, y\)"),
        ((iter([(np.zeros((3, 2)), np.zeros(3))]), None), ValueError, "declare the label set"),
        ((42, None), TypeError, "not a int"),
        ((VOTES, Y[:5]), ValueError, "1000 rows but y has 5"),
    ],
)
def test_what_is_no_blocks_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        read_ballots(*given)


def test_a_missing_label_for_dask_votes_is_no_class():
    import dask.array as da

    votes = da.from_array(np.array([["a", "b"], ["a", "a"], ["b", "a"]]), chunks=(2, 2))
    with pytest.raises(ValueError, match="y has no label in row 1"):
        read_ballots(votes, ["a", float("nan"), "b"])


def test_dask_votes_and_labels_must_fit_together():
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    votes = da.from_array(VOTES, chunks=(100, 4))
    frame = dd.from_pandas(pd.DataFrame(VOTES), npartitions=3)
    with pytest.raises(TypeError, match="labels y are missing"):
        read_ballots(votes)
    with pytest.raises(ValueError, match="1000 rows but y has 999"):
        read_ballots(votes, Y[:999])
    with pytest.raises(ValueError, match="1000 rows but y has 999"):
        read_ballots(votes, da.from_array(Y[:999]))
    with pytest.raises(ValueError, match="3 partitions and y has 5"):
        read_ballots(frame, dd.from_pandas(pd.Series(Y), npartitions=5))
    with pytest.raises(TypeError, match="y is a Dask collection and votes is not"):
        read_ballots(VOTES, da.from_array(Y))
    with pytest.raises(TypeError, match="unknown sizes"):
        read_ballots(frame, Y)
    with pytest.raises(ValueError, match="two dimensions"):
        read_ballots(votes[:, 0], Y)


def block_that_kills(start: int, marker: str) -> tuple[np.ndarray, np.ndarray]:
    """A block; the first process that asks for this one dies of it."""
    if start == 700:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return VOTES[start : start + 50], Y[start : start + 50]


def test_a_worker_that_is_killed_on_the_way_changes_nothing(cluster, tmp_path):
    import dask
    import dask.array as da

    marker = tmp_path / "killed"
    make = dask.delayed(block_that_kills, nout=2, pure=False)
    pairs = [make(start, str(marker)) for start in range(0, 1000, 50)]
    votes = da.concatenate([da.from_delayed(pair[0], (50, 4), VOTES.dtype) for pair in pairs])
    y = da.concatenate([da.from_delayed(pair[1], (50,), Y.dtype) for pair in pairs])
    found = read_ballots(votes, y, client=cluster, memory_budget=2000)  # what it spilled counts
    assert marker.exists()
    expected = Ballots.from_votes(VOTES, Y, compress=True)
    assert (found.codes == expected.codes).all()
    assert (found.counts == expected.counts).all()
    assert (found.part(0.25, 0, fitting=True).counts == expected.part(0.25, 0, fitting=True).counts).all()


def test_the_spill_folder_goes_with_the_ballots(tmp_path):
    many, y = drawn(1, 3000, 40, 2)
    ballots = read_ballots(iter([(many, y)]), memory_budget=100_000, spill_folder=tmp_path)
    part = ballots.part(0.25, 0, fitting=True)
    del ballots
    gc.collect()
    assert part.n_rows == part.errors(np.ones(40)) + int(part.n_rows - part.errors(np.ones(40)))
    assert len(list(tmp_path.iterdir())) == 1
    del part
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_workers_do_not_share_is_named(tmp_path):
    many, y = drawn(1, 3000, 40, 2)
    ballots = read_ballots(iter([(many, y)]), memory_budget=100_000, spill_folder=tmp_path)
    (run,) = Path(ballots.folder.path).iterdir()
    run.unlink()
    with pytest.raises(FileNotFoundError, match="spill_folder"):
        ballots.voter_errors()
    layout = ballots.source.run.layout
    with pytest.raises(FileNotFoundError, match="spill_folder"):
        write_run([], layout, str(tmp_path / "elsewhere"))


def test_options_are_checked():
    with pytest.raises(ValueError, match="split must be"):
        read_ballots(blocks(), split=1.0)
    with pytest.raises(ValueError, match="memory_budget must be"):
        read_ballots(blocks(), memory_budget=0)


SPILL_AND_WAIT = """
import sys, time
sys.path.insert(0, {here!r})
from scale_problems import drawn
from votecert.rows.blocks import read_ballots
ballots = read_ballots(iter([drawn(0, 1000, 20, 2)]), spill_folder={folder!r}, memory_budget=1000)
print(ballots.folder.path, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks as POSIX has them")
def test_what_a_killed_program_spilled_is_cleaned_up_by_the_next(tmp_path):
    """A live program's folder, and anything that is nobody's spill folder, stays."""
    program = SPILL_AND_WAIT.format(here=str(Path(__file__).parent), folder=str(tmp_path))
    started = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        killed, alive = (Path(process.stdout.readline().strip()) for process in started)
        started[0].kill()
        started[0].wait()
        assert killed.is_dir()
        for name in ("votecert-other", "mine"):
            (tmp_path / name).mkdir()
        (tmp_path / f"{killed.name}-link").symlink_to(tmp_path / "mine")
        (tmp_path / f"{killed.name}-file").write_text("no folder")
        kept = {path.name for path in tmp_path.iterdir()} - {killed.name}
        ballots = read_ballots(iter([drawn(0, 1000, 20, 2)]), spill_folder=tmp_path, memory_budget=1000)
        kept.add(Path(ballots.folder.path).name)
        assert {path.name for path in tmp_path.iterdir()} == kept
        assert any(alive.iterdir())
    finally:
        for process in started:
            process.kill()
            process.communicate()
