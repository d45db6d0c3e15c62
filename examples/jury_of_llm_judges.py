"""A jury of LLM judges, from a csv file

One column for each judge, one with the label of a person. An empty cell is a judge that refused or could
not be parsed: an abstention. The certificate limits how often the jury disagrees with the person.
"""

import csv

import matplotlib.pyplot as plt
import numpy as np

import votecert as vc

rng = np.random.default_rng(1)
judges = {
    "large": (0.92, 0.05),
    "medium": (0.88, 0.3),
    "small": (0.8, 0.1),
    "prompt b": (0.7, 0),
    "tiny": (0.6, 0),
}
with open("judges.csv", "w", newline="", encoding="utf-8") as file:  # in your case it is there already
    writer = csv.writer(file)
    writer.writerow([*judges, "human"])
    for _ in range(800):
        truth, other = rng.permutation(["harmful", "safe"])
        said = [truth if rng.random() < accuracy else other for accuracy, _ in judges.values()]
        refused = [rng.random() < share for _, share in judges.values()]
        writer.writerow([*("" if no else word for word, no in zip(said, refused, strict=True)), truth])

with open("judges.csv", newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
votes = np.array([[cell or None for cell in row[:-1]] for row in rows], dtype=object)
human = [row[-1] for row in rows]

certificate = vc.certify(votes, human, classes=["harmful", "safe"], fallback="harmful", voters=names[:-1])
print(certificate.statement)
print("A new case:", certificate.predict([["safe", None, "harmful", "safe", "safe"]])[0])

figure, axes = plt.subplots(figsize=(6.4, 3), layout="constrained")
vc.WeightsDisplay.from_certificate(certificate, ax=axes)
figure.savefig("jury.png", dpi=110)
