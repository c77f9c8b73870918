"""For every test, and for every process a test starts."""

import os

# Threads that wait by spinning starve one another where two kernels share two cores: a training of 3 s
# took minutes. Set before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
