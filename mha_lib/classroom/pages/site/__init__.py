"""The course as a static site: for each language handouts, slides, notebooks and documents."""

from mha_lib.classroom.pages.site.whole_site import write_site

__all__ = ["write_site"]
