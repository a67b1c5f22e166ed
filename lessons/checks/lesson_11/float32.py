"""Check exercise 11.4: why gradcheck refuses a right rule for float32 inputs."""

from __future__ import annotations

from minigrad.classroom.exercises import Choice

IN_FLOAT32 = Choice(
    id="11.4",
    asks="why gradcheck refuses a right rule for float32 inputs",
    option="b",
    right="The rule is right and the yardstick is too coarse: so it is a false alarm.",
    why_not={
        "a": "Compare by_backward in both precisions: in which digit do they differ?",
        "c": "It warned, and then it ran. What did it complain about in the end?",
        "d": "One in a thousand is three digits, and float32 has seven. Which of the two "
        "Jacobians has lost the other four?",
    },
    model="Two values of the function that lie only 2e-6 apart are subtracted, and float32 has "
    "rounded each of them by about 1e-7, so the quotient keeps a digit or two.",
    hints=(
        "Look at the figure: how large is the error of the float32 curves at h = 1e-6?",
        "How many float32 numbers lie between sin(0.7 - 1e-6) and sin(0.7 + 1e-6)? They are "
        "6e-8 apart.",
    ),
)
