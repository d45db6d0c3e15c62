"""An alarm that may be looked at every day

A vote of five judges is certified, then used. For sixty days forty labels come in each day; after the
thirtieth the cases become harder. The monitor is looked at every evening: at the certified risk it would
raise a false alarm with probability at most one percent, over all time.
"""

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(1)


def day(rows: int, skill: float) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(2, size=rows)
    return np.where(rng.random((rows, 5)) < skill, y[:, None], 1 - y[:, None]), y


certificate = vc.certify(*day(1000, 0.85), weights="uniform")
monitor = vc.Monitor(certificate, alpha=0.01)
for number in range(60):
    monitor.update(*day(40, 0.85 if number < 30 else 0.72), when=f"day {number + 1}")
    if number + 1 in (30, 60):
        print(
            f"day {number + 1}: {'alarm' if monitor.alarm else 'no alarm'}, evidence {monitor.evidence:.3g}"
        )
print(monitor.statement)

figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 6), sharex=True, layout="constrained")
vc.MonitorDisplay.from_monitor(monitor, ax=above)
rows = [look.rows for look in monitor.history]
below.plot(rows, [np.exp(look.streams[0].log_evidence) for look in monitor.history])
below.axhline(1 / monitor.alpha, color="tab:orange", linestyle="--", label="alarm at 1/alpha")
below.set(yscale="log", ylim=(None, 1e6), xlabel="labelled rows since the certificate", ylabel="evidence")
below.legend()
above.set_xlabel("")
figure.savefig("watch_a_vote.png", dpi=110)
