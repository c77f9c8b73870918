"""Right and wrong answers to the exercises of the lesson on a real model."""

from tests.classroom.exercises.answers import Answers

share_of_table = Answers(right=[0.21, 28_311_552 / 134_515_008], wrong=[("of_the_rest", 0.2666)])
lead_of_head = Answers(right=[2.3], wrong=[("sign_lost", -2.5), ("another_value", 0.1)])
recovered = Answers(
    """
def answer(clean, corrupted, patched):
    return (patched - corrupted) / (clean - corrupted)
""",
    right=[lambda clean, corrupted, patched: 1 - (clean - patched) / (clean - corrupted)],
    wrong=[
        ("turned", {"(patched - corrupted)": "(clean - patched)"}),
        ("not_divided", {" / (clean - corrupted)": ""}),
        ("of_clean_alone", {"(clean - corrupted)": "clean"}),
    ],
    together=[("turned", "of_clean_alone")],
)


def claim(head=(26, 0), measure="subject", limit=0.1, prompts="plurals", control=(26, 1)):
    return lambda: (head, measure, limit, prompts, control)


NEEDED = {"measure": "needed", "limit": 0.3}
real_claim = Answers(
    right=[(claim(), "held back"), (claim(**NEEDED), "without head 26.0")],
    wrong=[
        ("five_wanted", lambda: ((26, 0), "subject", 0.5), "a tuple"),
        ("head_not_there", claim(head=(30, 0)), "(30, 0)"),
        ("head_not_there", claim(control=26), "26"),
        ("head_not_there", claim(head=(26.0, 0)), "(26.0, 0)"),
        ("same_head", claim(control=(26, 0))),
        ("prompts_not_there", claim(prompts="verbs"), "drinks, plurals"),
        ("prompts_not_there", claim(prompts=["plurals"]), "['plurals']"),
        ("measure_not_there", claim(measure="giver"), "needed, subject, last"),
        ("no_limit", claim(limit=1), "this is 1"),
        ("nothing_refutes", claim(**NEEDED | {"limit": 0.999}), "0.999 already"),
        ("control_too", claim(limit=0.005), "choose a limit"),
        ("refuted", claim(limit=0.99), "26.0"),
        ("refuted", claim(head=(26, 1), control=(26, 2), **NEEDED), "refuted on 35 prompts"),
    ],
)
