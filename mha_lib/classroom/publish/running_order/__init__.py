"""The running order of a lesson: what is shown when, with the speaker's notes, as one page to print."""

from mha_lib.classroom.publish.running_order.build import write_running_orders

__all__ = ["write_running_orders"]
