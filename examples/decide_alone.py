"""What a jury may decide alone

Nine judges of different skill, six hundred labelled cases. At most 3 % of the cases that the jury decides
alone may be wrong; the others go to a person. Every point of the curve has its own limit, and all of them
hold together.
"""

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(0)
skill = np.linspace(0.6, 0.9, 9)


def cases(rows: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(2, size=rows)
    return np.where(rng.random((rows, 9)) < skill, y[:, None], 1 - y[:, None]), y


decided = vc.triage(*cases(600), max_risk=0.03)
print(decided)
new_votes, new_y = cases(100_000)
answers = decided.decide(new_votes)
alone = np.array([answer is not None for answer in answers])
wrong = np.mean(answers[alone] != new_y[alone])
print(f"new cases: {alone.mean():.1%} decided alone, {wrong:.1%} of these wrong")

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
vc.TriageDisplay.from_triage(decided, ax=axes)
figure.savefig("decide_alone.png", dpi=110)
