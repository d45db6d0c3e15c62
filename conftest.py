"""For all tests: one thread a process, and no failures for packages that are not installed."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

# two test processes with two threads each wait for one another
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

EXTRAS = (
    "mpmath",
    "matplotlib",
    "typer",
    "rich",
    "jinja2",
    "pyarrow",
    "dask",
    "distributed",
    "pandas",
    "polars",
)
MISSING = [name for name in EXTRAS if find_spec(name) is None]  # asked before a test hides one of them
NEEDS = "needs {}, which is not installed"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Modules that cannot be imported are skipped like the tests that would be in them."""
    report = yield
    if report.failed and report.call.excinfo:
        for missing in missing_packages(report.call.excinfo.value):
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), None, f"Skipped: {NEEDS.format(missing)}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipping_what_needs_extras())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skipping_what_needs_extras())


def skipping_what_needs_extras():
    """On a base install, skip the tests that need a package of an extra."""
    try:
        return (yield)
    except Exception as error:
        for missing in missing_packages(error):
            pytest.skip(NEEDS.format(missing))
        raise


def missing_packages(error: BaseException | None) -> Iterator[str]:
    """Extras that are not installed and are the reason for an error, also one of a doctest."""
    while error is not None:
        for failure in getattr(error, "failures", [error]):
            if exc_info := getattr(failure, "exc_info", None):
                yield from missing_packages(exc_info[1])
        package = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ImportError) and package in MISSING:
            yield package
        error = error.__cause__ or error.__context__


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Neighbours share fixtures: each process starts with its part of the tests, then takes from others."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None
