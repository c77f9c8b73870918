"""The course as a static site: a front page in each language, and all that can be handed out behind it.

The one room that stands on others: it frames what ``handout`` and ``slides`` have written.
"""

from mha_lib.classroom.publish.site.build import write_site

__all__ = ["write_site"]
