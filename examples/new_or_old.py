"""Is the new one better?

An old model, a new one that corrects a third of its errors, and one that is different but no better. Limits
on the difference of their errors, from the same 1500 rows: one is called better only if zero is outside.
"""

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(0)
y = rng.integers(3, size=1500)
old = np.where(rng.random(1500) < 0.85, y, (y + 1) % 3)
new = np.where(rng.random(1500) < 1 / 3, y, old)
other = np.where(rng.random(1500) < 0.85, y, (y + 1) % 3)

found = [
    vc.difference(y, model, old, names=(name, "old")) for name, model in (("new", new), ("other", other))
]
for one in found:
    print(one.statement)

figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
vc.DifferenceDisplay.from_difference(found, ax=axes)
figure.savefig("new_or_old.png", dpi=110)
