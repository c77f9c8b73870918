"""A published language model in the course's layers: SmolLM2-135M-Instruct, which ``mha fetch`` brings.

Its file holds float32 numbers, 538 MB. They are mapped into memory, not read: a model is there in half a
second, and all kernels of a machine share them.
"""

import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from mha_lib import LanguageModel
from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.trainings.kept import FOLDER, place_to_keep
from mha_lib.language_model import llama, read_gguf

KEPT = "SmolLM2-135M-Instruct.model"  # not .pt: it is no training, and is not removed with them


def load_real_model() -> tuple[LanguageModel, Any]:
    """Return what ``from_gguf`` returns, the model and its tokenizer, from the file that was kept.

    Raises CourseError where ``mha fetch`` has not brought it, where its file is damaged, and without the
    extra ``real``.
    """
    file = find_real_model(place_to_keep().parents[1])
    if file is None:
        raise CourseError("real_model_missing")
    require_real()
    from tokenizers import Tokenizer

    try:
        kept = torch.load(file, map_location="cpu", mmap=True, weights_only=True)
        return llama(kept["sizes"], kept["state"]), Tokenizer.from_str(kept["tokenizer"])
    except Exception:  # a damaged file can fail in any way
        raise CourseError("real_model_damaged", file=file) from None


def find_real_model(root: Path) -> Path | None:
    """Return the file that was kept, or None: in ``work/``, or else beside it, in the image of a server."""
    places = [root / "work" / FOLDER / KEPT, root / FOLDER / KEPT]
    return next(filter(Path.is_file, places), None)


def keep_real_model(gguf: Path, file: Path) -> None:
    """Write the model of a GGUF file to a file that ``load_real_model`` reads."""
    sizes, state, tokenizer = read_gguf(gguf)
    torch.save({"sizes": sizes, "state": state, "tokenizer": tokenizer.to_str()}, file)


def check_real_model(file: Path) -> None:
    """Raise CourseError where a byte of the file is another one than was written."""
    try:
        with zipfile.ZipFile(file) as archive:
            damaged = archive.testzip()
    except (OSError, zipfile.BadZipFile):
        damaged = "all"
    if damaged:
        raise CourseError("real_model_damaged", file=file)


def require_real() -> None:
    """Raise CourseError without the extra ``real``."""
    for name in ("gguf", "tokenizers"):
        try:
            import_module(name)
        except ImportError as reason:
            raise CourseError("no_real", reason=reason) from None
