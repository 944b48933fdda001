from tests.benchmarks.policies import CASES, report


def test_the_benchmark_measures_every_case() -> None:
    lines = list(report(repeats=2))

    assert len(lines) == 1 + len(CASES)
