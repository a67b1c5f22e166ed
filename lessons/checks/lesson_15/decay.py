"""Check exercise 15.5: who moves a pruned weight whose gradient is masked."""

from __future__ import annotations

import re

from minigrad.classroom.exercises import Mistake
from minigrad.classroom.reasons import Choice

_NO_MOMENTUM = re.compile(
    r"momentum( buffer| term)? (is|stays|becomes|will be|gets)( also| then| set to| reset to)* "
    r"(zero|0(?![.\d])|empty|masked)"
)
_MASKED_TOO = re.compile(
    r"(hook|mask)s? (also |would |will |then )*(mask|zero|stop|block|remov|cancel|kill|cover|catch)"
    r"\w* (it|both|that|(the )?(weight )?decay)\b"
    r"|decay((?!momentum|not\b|n't)[^.;])*\b(masked|zeroed|blocked|stopped) "
    r"(too|as well|also|by the (hook|mask))"
)
_EXCHANGED = re.compile(
    r"momentum (is|will be) (proportional|a multiple|a share|a fraction)"
    r"|decay (remembers|stores|accumulates|has (a )?memory|(still )?(holds|has|keeps) (the |its )?"
    r"(old|past|earlier|previous))"
)
_BY_GRADIENT = re.compile(
    r"decay((?!momentum)[^.;,]){0,40}\b(when|if|where|unless|without) (there (is|was) )?"
    r"((a|any|no) )?gradient"
    r"|decay (is )?(multiplied|proportional|times|scales?|scaled)[^.;,]{0,12}\bgradient"
    r"|"
    r"decay[^.;]{0,20}(?<!not )\b(needs?|requires?) (a |the |its |some )?gradient"
    r"|decay[^.;,]{0,40}\b(when|if|because|since|as) (the |its )?gradient"
)

DECAY = Choice(
    id="15.5",
    asks="which of weight decay and momentum moves a pruned weight, and why",
    option="b",
    right="One takes a share of what is there. The other brings what was there.",
    why_not={
        "a": "Both come after the hook, that is true. But how much does decay subtract from a "
        "weight that stands at 0?",
        "c": "How much does decay subtract from a weight that stands at 0? And what did the "
        "prediction above show?",
        "d": "The optimizer comes after the hook, and keeps something from earlier steps: look at "
        "the prediction above.",
    },
    ideas={
        "what weight decay does to a weight of zero": (
            "decay zero|nothing|none",
            "decay 0 ~0.",
            "part|share|fraction|percent|multiple zero|0|nothing",
            "decay proportion|multipl|factor|share|percent|fraction|times",
            "decay scal ~gradient",
            "decay shrink|reduc zero|0|itself|toward|towards",
            "decay pull|push|draw|drag to|zero|0",
            "decay toward|towards",
            "zero|0 stay|remain|decay|nothing|leave",
            "proportion weight|its|size|value",
            "multiple of weight",
            "times zero|0",
            "shrink|scale|pull zero|0",
            "wd|lambda zero|0",
            "wd*w|lambda*w|0.5*0|w*0",
        ),
        "what momentum remembers": (
            "momentum KEEP",
            "momentum buffer|velocity|histor|memor|old|earlier|previous|past|former|last",
            "momentum still|continu|carr|coast|persist|nonzero|non-zero|inertia",
            "momentum go|goes|keeps on|along|going",
            "momentum not zero|0|empty|mask",
            "momentum sum|average|mean|accumul|contain",
            "buffer|velocity old|earlier|previous|past|still|nonzero|histor|KEEP|not|from|of",
            "old|earlier|previous|past gradient|step|direction",
            "gradient before|earlier|already",
            "running|average gradient",
            "from before",
            "momentum|buffer|velocity built|fill|gather|collect",
            "momentum|buffer|velocity outliv|surviv|outlast|persist",
        ),
    },
    misled={
        (
            "decay constant|fixed subtract|amount|step|pull",
            "decay subtract|take|remove|add constant|fixed",
        ): "Decay takes a share of the weight, and no fixed amount.",
        (
            "is hook|mask decay ~momentum ~not ~before ~loss|gradient",
            "is hook|mask stop|prevent|block|cancel|remov|suppress|kill decay",
            "is hook|mask zeroes|zeros|zeroed decay",
            "is decay part|inside|includ|belong gradient|loss mask|hook|zeroes|zeroed",
        ): "The hook never sees the decay: it is added in the step. In section 3 it moved a weight "
        "whose gradient was zero.",
        (
            "is momentum bypass|skip|ignor|evade hook|mask ~buffer ~old ~previous ~earlier ~KEEP",
            "is momentum after|later|past|behind hook|mask ~buffer ~old ~previous ~earlier ~KEEP "
            "~gradient ~past ~still ~before ~histor ~accumul",
        ): "That momentum comes after the hook holds for decay as well. What does it bring along?",
        (
            "is momentum new|current|this|next gradient ~old ~previous ~earlier ~past ~not "
            "~before ~from ~carr ~still ~KEEP",
            "is gradient not zero ~old ~previous ~earlier ~past ~momentum ~buffer",
        ): "The masked gradient is zero in every step. From where does momentum have its push?",
        (
            "is momentum nonzero|non-zero random|noise",
            "is momentum random|noise",
        ): "There is nothing random about momentum. What does it hold?",
        "is momentum larger|stronger|bigger|greater|higher|wins|beats|dominat|outweigh decay": (
            "This is no race of one number against the other. What does decay subtract from a "
            "weight of 0?"
        ),
        (
            "is decay smaller|slower|weaker|small|slow|negligible|tiny",
            "is decay too|very small|weak|slow",
            "is decay mov|push|pull|chang|shift|drag little|bit|slight|somewhat",
        ): "It is not a matter of small or large: how much is it exactly, for a weight of 0?",
        "is skip|exempt|disab|excus|exclud decay ~momentum": (
            "Nobody tells the optimizer that a weight is pruned: it computes the decay as for all "
            "others. What comes out?"
        ),
        "is momentum reset|restart|clear|forget": (
            "If momentum forgot, it would move nothing. What is it made of?"
        ),
        "is momentum other|neighbor weight|parameter ~while": (
            "Each weight has a momentum of its own. From where does it have its push?"
        ),
        "is decay bias|biases": "Decay takes all parameters that the optimizer has.",
        (
            "is decay nonzero|away ~momentum ~velocity ~buffer",
            "is decay mov|push|pull|draw|drag out|up ~momentum ~velocity ~buffer",
        ): "Decay pulls toward zero. Where does this weight stand?",
        (
            "is momentum decay|shrink|share weight ~buffer ~old ~gradient ~while ~but",
            "is momentum multiple|proportion|times weight ~buffer ~old ~gradient",
        ): "Momentum does not look at the weight at all. What is it made of?",
    },
    model="Weight decay is a multiple of the weight, and the weight is zero; momentum still holds "
    "the gradients from before the mask, and goes on with them.",
    hints=(
        "Write down what each of them subtracts from the weight in one step.",
        "Decay subtracts a multiple of the weight. Momentum subtracts a multiple of a buffer. Put "
        "in a pruned weight.",
    ),
    mistakes=[
        Mistake(
            "If momentum were zero, it would move nothing. From where does it have its push?",
            when=lambda reason: _NO_MOMENTUM.search(reason.casefold()),
        ),
        Mistake(
            "The hook never sees the decay: it is added in the step. In section 3 it moved a "
            "weight whose gradient was zero.",
            when=lambda reason: _MASKED_TOO.search(reason.casefold()),
        ),
        Mistake(
            "Is it that way round? One of the two is made from the weight, the other from earlier "
            "gradients.",
            when=lambda reason: _EXCHANGED.search(reason.casefold()),
        ),
        Mistake(
            "Decay asks for no gradient: in section 3 it moved a weight whose gradient was zero. "
            "For what does it ask?",
            when=lambda reason: _BY_GRADIENT.search(reason.casefold()),
        ),
    ],
)
"""The exercise."""
