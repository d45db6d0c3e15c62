"""The paper, reproduced: data sets, protocol, figures and tables of its experiments.

F. Biggs, V. Zantedeschi, B. Guedj, *On Margins and Generalisation for Voting Classifiers*, NeurIPS 2022.

The way of the data: :mod:`~votecert.paper.load` gives a data set, :mod:`~votecert.paper.protocol` splits
it and asks the voters, :mod:`~votecert.paper.measure` learns weights and bounds their risk,
:mod:`~votecert.paper.run` does so for every cell that is not yet in the file of
:mod:`~votecert.paper.results`, and :mod:`~votecert.paper.report` makes figures, tables and text of that file.
"""
