"""Check exercise 11.4: why gradcheck refuses a right rule for float32 inputs."""

from __future__ import annotations

from minigrad.classroom.reasons import Choice

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
    ideas={
        "what becomes of the digits": (
            "digit",
            "round",
            "precis",
            "cancel",
            "spac|gap|grid|neighbo|resol|ulp|coarse|granul",
            "noise",
            "last place",
            "accura",
            "bits",
            "eps h",
            "eps/h|1e-7|6e-8|1.2e-7|2**-23",
            "uncertain",
            "relative error",
            "error big|large|huge|domin|ten|10|per|amplif|blow",
            "LOSE|swallow|wipe ~tolerance",
            "inaccura",
            "imprecis",
            "unreliab|garbage|rubbish",
            "mantissa|significan|stair",
            "error h|divid|ratio|eps",
            "left arm|side|of",
        ),
        "the step, or the difference": (
            "step",
            "1e-6",
            "differ",
            "small|tiny|little",
            "move|shift|apart",
            "quotient",
            "cancel",
            "agree",
            "left bottom|arm|v",
            "eps/h",
            "divi",
            "by|over|such|with h",
            "subtract|minus",
            "numeric",
            "near|almost|nearly SAME",
        ),
    },
    misled={
        "is truncation ~not ~instead ~unlike ~small ~tiny ~harmless ~negligible": "Truncation "
        "shrinks with the step, and this step is small. Which of the two errors grows as the step "
        "shrinks?",
        (
            "is round shrink|fall|decreas|smaller step|h ~differ",
            "step too LARGE|coarse float32 ~small",
            "rounding error larger|grows step larger|grows",
            "is quotient|difference exactly zero",
            "is step too LARGE|coarse ~small",
            "is step bigger|larger than ~small ~error",
        ): "Look at the figure at h = 1e-6. Is that right or left of the bottom of the float32 "
        "curve, and which error rules there?",
        (
            "is backward|analytic round|inexact|inaccur|imprecis|wrong|LOSE ~harmless ~numeric "
            "~difference ~quotient ~step ~right ~fine",
            "is backward|analytic pass|itself|gradient round|LOSE ~numeric ~difference "
            "~quotient ~right ~fine ~harmless",
            "is backward|analytic few|one|two digit ~numeric ~difference ~quotient ~step",
        ): "The backward pass divides by no step, and keeps about seven digits. Which of the "
        "two Jacobians does not?",
        (
            "not subtract|difference|quotient|step LOSE ~double ~float64 ~backward ~analytic "
            "~gradient",
            "not digit LOSE ~double ~float64 ~backward ~analytic ~gradient",
            "is step well|good|right chosen|suit|fit ~double ~float64",
        ): "Then the two Jacobians would agree. Look at the float32 curves of the figure, at "
        "h = 1e-6.",
        (
            "not 1e-6 represent|stor|hold|written|exist ~x ~0.7 ~between ~differ ~sin ~change "
            "~little ~result ~small",
            "is 1e-6 zero|underflow ~x ~differ ~sin ~result",
            "is step underflow",
            "is step rounded zero",
            "smaller smallest",
        ): "float32 can store 1e-6 without any trouble: small numbers have as many digits as "
        "large ones. What about 0.7 + 1e-6, and the difference?",
        (
            "is tolerance|rtol|atol more digit ~step ~difference ~quotient ~keep ~left",
            "is tolerance|rtol|atol strict|tight|severe|demand|narrow ~step ~difference "
            "~quotient ~subtract ~error",
        ): "One in a thousand is three digits, and float32 has seven. Which of the two "
        "Jacobians has lost the other four?",
        "is kink": "A sine has no kink. The rule is right at every point.",
        (
            "is result|backward|gradient random",
            "reentrant",
            "determin",
        ): "float32 rounds in the same way each time: nothing is random about it.",
        "is slope|gradient small|tiny below|atol": "The slope of the sine is between 0.3 and 1 "
        "here, far above every tolerance. It is another thing that is too small.",
        "is gradcheck accept|require|want|need|refus|only float64|double ~digit ~round ~step": "It "
        "warned, and then it ran. What did it complain about in the end?",
    },
    model="Two values of the function that lie only 2e-6 apart are subtracted, and float32 has "
    "rounded each of them by about 1e-7, so the quotient keeps a digit or two.",
    hints=(
        "Look at the figure: how large is the error of the float32 curves at h = 1e-6?",
        "How many float32 numbers lie between sin(0.7 - 1e-6) and sin(0.7 + 1e-6)? They are "
        "6e-8 apart.",
    ),
)
