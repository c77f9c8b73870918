"""Break the library on purpose, one way at a time, and see that its tests notice.

    python tests/mha_lib/mutants.py             every mutant
    python tests/mha_lib/mutants.py softmax     the mutants whose name contains "softmax"
    python tests/mha_lib/mutants.py --sample 9  nine of them, others as soon as the library changes

The mutants are made of the library as it is today: ``rules.py`` breaks each line in many ways, and one in
32 is taken, by a hash of its name. ``mutants.txt`` adds the classical mistakes that no rule makes.
No file is written: a process of its own imports the broken text in place of the file. The tests of
``tests/mha_lib`` must notice it, those of the broken file first; a file of the classroom has only its own.
A mutant that survives shows that a test is missing: write it. Where no test can see a difference, say why in
``EQUIVALENT``.
"""

import argparse
import gc
import hashlib
import importlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Collection
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.mha_lib.rules import Mutant, mutants_of  # noqa: E402 — found from any folder

# Slow tests that no mutant needs; those marked `ci` are left out too.
SLOW = "not importing and not two_processes"
BROKEN = [file.name for file in sorted((ROOT / "mha_lib").glob("[!_]*.py"))]
BROKEN += ["classroom/translator/data.py", "classroom/translator/model.py"]
ONE_IN = 32  # of the mutants that the rules make
MINUTES = 10  # what takes longer runs for ever
# The tests that run first for a file; those of the same name where none are listed.
FIRST = {
    "attention": ["attention", "torch_cases"],
    "cache": ["cache", "window"],
    "checks": ["errors"],
    "conversions": ["transformers"],
    "encoder_decoder": ["transformer"],
    "from_transformers": ["transformers"],
    "masks": ["attention", "multihead", "window"],
    "packing": ["fused"],
    "tracing": ["torch_cases", "fused"],
}
LAST = ("test_fused.py", "test_transformers.py")  # for other files: they take longest
# Mutants that no test can notice, and those that never end; each with the reason.
EQUIVALENT = {
    "fused.py attend_in_blocks: 2 → 3 (number) in: sides = 2 if limits.is_causal else 3 # the blocks "
    "before, own and, unless causal, after": "one block more, which nobody sees",
    "fused.py attend_in_blocks: (num_queries + size - 1) // size → (num_queries + size - 1) (left side "
    "alone) in: num_blocks = (num_queries + size - 1) // size": "more blocks, of padding",
    "cache.py KVCache.crop: num_tokens < self.first_keys.shape[2] → (num_tokens <= "
    "self.first_keys.shape[2]) (comparison) in: if self.first_keys is not None and num_tokens < "
    "self.first_keys.shape[2]:": "the same but for roundings",
    "cache.py KVCache.extend: keys → values (another name) in: new, start, end = keys.shape[2], self.start, "
    "self.end + keys.shape[2]": "there are as many values as keys",
    "masks.py checked_limits: shortest=shortest → **{} (left out) in: shortest=shortest,": "only slower",
    "masks.py blank_padding: blank_keys if values is keys else blank(values) → (blank(values)) (never) "
    "in: return blank_keys, blank_keys if values is keys else blank(values)": "the same, computed twice",
    "packing.py packed_attention: queries → keys (another name) in: has_kernel = "
    "has_varlen_kernel(queries.device, queries.dtype, *widths, dropout_p), 2": "they have one dtype",
}


def hashed(*texts: str) -> int:
    return int.from_bytes(hashlib.sha256("\n".join(texts).encode()).digest()[:8])


def source_of(file: str) -> str:
    return (ROOT / "mha_lib" / file).read_text(encoding="utf-8")


def classical_mutants() -> list[Mutant]:
    """Read ``mutants.txt``: ``[file] name``, then the old text after ``-`` and the new text after ``+``."""
    mutants = []
    for block in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").strip().split("\n\n"):
        title, *lines = block.splitlines()
        file, name = title.removeprefix("[").split("] ")
        old, new = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
        source = source_of(file)
        if source.count(old) != 1:
            raise ValueError(f"{name}: its text must occur once in {file}, it does {source.count(old)} times")
        mutants.append(Mutant(f"{file}: {name}", file, source.replace(old, new)))
    return mutants


def all_mutants(but: Collection[str] = EQUIVALENT) -> list[Mutant]:
    made = [mutant for file in BROKEN for mutant in mutants_of(file, source_of(file))]
    taken = [mutant for mutant in made if hashed(mutant.name) % ONE_IN == 0 and mutant.name not in but]
    return classical_mutants() + taken


def drawn(mutants: list[Mutant], count: int | None, library: str) -> list[Mutant]:
    """Draw so many mutants: the same for the same library, others after each change of it."""
    return sorted(mutants, key=lambda mutant: hashed(library, mutant.name))[:count]


def checked_by(file: str) -> list[str]:
    name = Path(file).stem
    if "/" in file:
        return [f"tests/{Path(file).parent}/test_{name}.py"]
    first = [f"tests/mha_lib/test_{test}.py" for test in FIRST.get(name, [name])]
    others = {str(test.relative_to(ROOT)) for test in (ROOT / "tests/mha_lib").glob("test_*.py")}
    others -= {*first, "tests/mha_lib/test_mutants.py"}
    return [*first, *sorted(others, key=lambda test: (test.endswith(LAST), test))]


def failure_of(mutant: Mutant | None, tests: list[str]) -> str:
    """Return the first file of tests of which one fails, or nothing. Runs in a process of its own."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60 * MINUTES)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins would take longer to load than most tests
    for name in [name for name in sys.modules if name.split(".")[0] in ("mha_lib", "tests")]:
        del sys.modules[name]
    read = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        if mutant is not None and Path(loader.path) == ROOT / "mha_lib" / mutant.file:
            return compile(mutant.text, loader.path, "exec")
        return read(loader, name)

    SourceFileLoader.get_code = get_code
    options = ["-x", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-k", SLOW]
    good = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return next((test for test in tests if pytest.main([*options, test]) not in good), "")


def too_long(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="take the mutants whose names contain all of these")
    parser.add_argument("--sample", type=int, help="take this many, others for another library")
    options = parser.parse_args()
    library = "".join(source_of(file) for file in BROKEN)
    chosen = [mutant for mutant in all_mutants() if all(word in mutant.name for word in options.words)]
    chosen = drawn(chosen, options.sample, library)
    # Each process begins as a copy of this one. What it finds loaded, it need not load.
    importlib.import_module("mha_lib")
    torch.testing.assert_close(torch.ones(1), torch.ones(1))
    gc.freeze()
    started, survivors = time.perf_counter(), []
    os.chdir(ROOT)
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        if failure := pool.apply(failure_of, [None, sorted({t for m in chosen for t in checked_by(m.file)})]):
            print(f"The tests fail without any mutant: {failure}")
            return 1
        results = [pool.apply_async(failure_of, [mutant, checked_by(mutant.file)]) for mutant in chosen]
        for mutant, result in zip(chosen, results, strict=True):
            failure = result.get()
            survivors += [mutant.name] * (not failure)
            print(f"{'killed  ' if failure else 'SURVIVED'}  {mutant.name}  {failure}", flush=True)
    minutes = (time.perf_counter() - started) / 60
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed in {minutes:.1f} minutes")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
