"""How far the lessons have come: a bar of plain text, in a terminal."""

import shutil
import sys

WIDTH = 30  # characters of the bar


class Progress:
    """A bar on the terminal; where the output goes elsewhere, nothing."""

    def __init__(self, number_of_lessons: int, words: dict[str, str]):
        self.lessons_to_come = number_of_lessons
        self.words = words
        self.cells = self.cells_done = 0
        self.is_shown = sys.stderr.isatty()

    def begin_lesson(self, cells: int) -> None:
        self.lessons_to_come -= 1
        self.cells += cells

    def end_cell(self) -> None:
        self.cells_done += 1

    def show(self, doing: str) -> None:
        if not self.is_shown:
            return
        bar = "#" * round(WIDTH * self.cells_done / max(self.cells, 1))
        cells = f"{self.cells}+" if self.lessons_to_come else str(self.cells)
        line = self.words["progress"].format(done=self.cells_done, cells=cells, doing=doing)
        columns = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r" + f"[{bar:.<{WIDTH}}] {line}"[:columns].ljust(columns))
        sys.stderr.flush()

    def end(self) -> None:
        if self.is_shown:
            self.show(self.words["done"])
            sys.stderr.write("\n")
