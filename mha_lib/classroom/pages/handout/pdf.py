"""A handout as a PDF: the page on A4, as an installed browser prints it."""

import subprocess
import tempfile
from pathlib import Path

from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.pages.browser import is_administrator

LONGEST_PRINT = 1200  # seconds; printing takes three. It ends a page whose script never does
TIME_TO_DRAW = 10_000  # milliseconds of the page's own time, in which its widgets draw before it is printed


def write_pdf(browser: str, page: Path) -> Path:
    """Write the PDF beside the page, with the page's headings as its outline."""
    target = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        printed = Path(folder) / "printed.pdf"
        command = [browser, "--headless", "--disable-gpu", f"--user-data-dir={folder}"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline"]
        command += ["--no-sandbox"] if is_administrator() else []
        command += [f"--virtual-time-budget={TIME_TO_DRAW}", f"--print-to-pdf={printed}"]
        command += [page.resolve().as_uri()]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_PRINT).stderr
        except subprocess.TimeoutExpired:
            raise CourseError("pdf_too_long", file=target, browser=browser, seconds=LONGEST_PRINT) from None
        if not printed.exists():
            last_line = " ".join(said.strip().splitlines()[-1:])
            raise CourseError("no_pdf", file=target, browser=browser, reason=last_line)
        write_whole(target, printed.read_bytes())
    return target
