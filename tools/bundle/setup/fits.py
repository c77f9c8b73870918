# Prints the version of the Python that runs this; succeeds if the bundle is for it. Old Pythons read it too.
import os
import sys

version = ".".join(map(str, sys.version_info[:2]))
print(version)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pythons.txt")) as file:
    sys.exit(version not in file.read().split())
