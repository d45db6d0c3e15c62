"""Functions of floats and arrays that the bounds are made of; each module lists its own in ``__all__``.

Nothing here knows about votes.
"""

from votecert.numerics._exact import *
from votecert.numerics.arithmetic import *
from votecert.numerics.beta import *
from votecert.numerics.binomial import *
from votecert.numerics.bounded import *
from votecert.numerics.divergences import *
from votecert.numerics.kl import *
from votecert.numerics.maurer import *
from votecert.numerics.mixture import *
