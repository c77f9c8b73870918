"""The exercises of lesson 05, the heads of today's models, in the order of the lesson."""

from mha_lib.classroom.live.exercises.lesson_05_heads import SHARING, STREAMING
from mha_lib.classroom.live.exercises.lesson_05_models import CACHE, SHARDING_AND_DESCRIBING

EXERCISES = CACHE + SHARING + SHARDING_AND_DESCRIBING + STREAMING
