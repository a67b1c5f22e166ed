"""Check what lesson 14 asks by hand and in words: guided slopes, and what the check proves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import minigrad as torch
from minigrad.autograd import grad
from minigrad.classroom.exercises import Mistake, Numbers
from minigrad.classroom.reasons import Choice, clauses
from minigrad.classroom.values import as_number, leaves


def slopes(rule: str) -> tuple[float, ...]:
    """Send the slopes of y back through the hidden layer of exercise 14.2.

    Args:
        rule: at each ReLU, "slope", "guided", "open" (all let through) or "positive" (only the
            clamp, whether open or not).
    """
    into = torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    z = (into @ torch.tensor([1.0, 2.0], dtype=torch.float64)) - torch.tensor([0.0, 0.0, 3.0])
    z = z.detach().requires_grad_()
    out = torch.tensor([2.0, -3.0, 1.0], dtype=torch.float64)
    (back,) = grad((out * (z if rule in ("open", "positive") else torch.relu(z))).sum(), z)
    if rule in ("guided", "positive"):
        back = back.clamp(min=0)
    return tuple((back @ into).tolist())


def _near(answer: Any, *values: float | None) -> bool:
    have = [as_number(entry) for _, entry in leaves(answer)]
    return len(have) == len(values) and all(
        want is None or (number is not None and abs(number - want) < 1e-6)
        for number, want in zip(have, values, strict=True)
    )


def _first_fit(answer: Any, guided: Sequence[float | None]) -> bool:
    return _near(answer, *slopes("slope"), *guided)


BY_HAND = Numbers(
    id="14.2",
    asks="the slopes of y for x_1 and x_2, and then the guided ones, four numbers in a row",
    expected=lambda: slopes("slope") + slopes("guided"),
    right="One negative weight was not heard, and a slope of -1 became one of 2.",
    hints=(
        "Which of the three hidden units are open at (1, 2)? Write the number that comes back to "
        "each, then send these on to x_1 and x_2.",
        "2, -3 and 1 arrive. The third unit is closed. Guided, the -3 becomes 0 before it is sent "
        "on: x_1 hears of units 1 and 2, x_2 of units 1 and 3.",
    ),
    mistakes=[
        Mistake(
            "The two pairs are in the other order: first the slopes, then the guided ones.",
            value=lambda: slopes("guided") + slopes("slope"),
        ),
        Mistake(
            "Twice the same pair: one of the numbers that arrive at the ReLUs is negative, and "
            "guided backpropagation does not let it pass.",
            value=lambda: slopes("slope") * 2,
        ),
        Mistake(
            "The slopes fit. You clamped at the end, when all had been added up. The clamp is at "
            "each ReLU, before the adding.",
            when=lambda answer: _first_fit(answer, (0, 2)),
        ),
        Mistake(
            "The slopes fit. In the guided pair the third unit speaks, and it is closed: the clamp "
            "comes in addition to the gate, not in its place.",
            when=lambda answer: _first_fit(answer, (2, 3)),
        ),
        Mistake(
            "The slopes fit. You turned the -3 into 3. What is negative becomes zero.",
            when=lambda answer: _first_fit(answer, (5, 2)),
        ),
        Mistake(
            "z_3 is 2 - 3, below zero: its unit is closed, and sends nothing back.",
            when=lambda answer: _near(answer, -1, 3, None, None),
        ),
        Mistake(
            "The first pair is guided already. The slopes themselves hear the -3 as well.",
            when=lambda answer: _near(answer, *slopes("guided"), None, None),
        ),
        Mistake(
            "Those are the hidden values and the score. Asked for are slopes.",
            when=lambda answer: _near(answer, 3, 1, 0, 3) or _near(answer, 3, 1, -1, 3),
        ),
        Mistake(
            "These are slopes of the hidden units together. On the way from y each is multiplied "
            "with its factor 2, -3 or 1.",
            when=lambda answer: _near(answer, 2, 1, None, None),
        ),
        Mistake(
            "2 and -3 are the slopes of y for the hidden units. Send them on: x_1 reaches y "
            "through two of the units.",
            when=lambda answer: _near(answer, 2, -3, None, None),
        ),
        Mistake(
            "The 1 of x_1 and the 2 of x_2 are in there as factors. A slope for x_1 does not "
            "contain the value of x_1.",
            when=lambda answer: _near(answer, -1, 4, None, None),
        ),
        Mistake(
            "The two of a pair are in the other order: x_1 first.",
            when=lambda answer: _near(answer, 2, -1, None, None),
        ),
        Mistake(
            "The slopes fit. For the guided pair write down what comes back to each of the three "
            "units, set to zero what is negative or closed, and send the rest on.",
            when=lambda answer: _first_fit(answer, (None, None)),
        ),
        Mistake(
            "The guided pair fits. The slopes are those of the plain chain rule, negative "
            "numbers and all.",
            when=lambda answer: _near(answer, None, None, *slopes("guided")),
        ),
        Mistake(
            "Go unit by unit: which number comes back to it from y? Is it open? To which of x_1 "
            "and x_2 does it send that on?",
            when=lambda answer: _near(answer, None, None, None, None),
        ),
    ],
)

_LEARNED = "weight|param|learn|train|network|model|random|knowledge"
_MOVES = (
    "depend|reli|rely|rest|relat|tied|link|connect|sensitiv|respond|react|uses|use|used|using|"
    "influenc|determin|chang|differ|mov|vari|vary|made|built|comput|function|based|reflect|come|"
    "ignor|independ|hash|listen|hear|read|look|pass|scrambl|encod|contain|draw|destroy|"
    "effect|impact|role|know|aware|need|follow|react"
)
_FIRM = "~not ~whether ~nothing ~only ~but ~if ~open ~necessarily ~could ~may ~might ~even"

_OPTION = (
    "the maps depend on what the network has learned whether they show what mattered is still open"
)


def _repeats(reason: str) -> bool:
    """Tell whether a reason has the words of the option, give or take a few, in any order."""
    words = Counter(word for part in clauses(reason) for word in part if word != "because")
    option = Counter(_OPTION.split())
    return 2 * (words & option).total() > 0.85 * (words.total() + option.total())


PASSED = Choice(
    id="14.5",
    asks="what has been shown of a method whose maps change completely with random weights",
    option="b",
    right="Necessary, and not enough: the check catches maps that are of the image only.",
    model="The map depends on the weights, since it changed with them; but a map of pure noise "
    "that was made from the weights would pass as well, so it need not show what mattered.",
    why_not={
        "a": "It would be shown if every map that depends on the weights were right. Think of one "
        "that does depend on them, and shows nothing.",
        "c": "The check compares two maps. Did it compare either of them with what is right to "
        "look at?",
        "d": "That the random network makes no sense is the point. A map that is the same for it "
        "would be a map of what?",
    },
    ideas={
        "what a change with the weights does show": (
            f"{_LEARNED} {_MOVES}",
            f"{_LEARNED} matter|go|goes|enter|play|count|come|affect|influenc|determin|shape|drive",
            "not edge|same|image|input|picture",
            "not only|just|merely|simply image|edge|input|picture|detector",
            "exclud|refut|reject|discard|eliminat image|edge|input|independen|ignor|blind",
            "rule|rules|ruled|weed|filter|catch|catches|detect out|map|method|image|edge|ignor",
            "independen|insensitiv",
            "necessary|needed|required|precondition|prerequisite",
            "two|several|many|both|different pass|passes|passed",
            "noise|garbage|nonsense|hash|checksum|scrambl|slope|saliency|dots|useless|bad|rubbish "
            "pass|chang|differ|surviv",
            "train|weight|param|learn account|something|part|into",
            "hurdle|surviv|obstacle",
            "say|says no|yes",
            "dependen|sensitivity",
            "separat|tell|distinguish map|model|network image|picture|edge",
            "remov|sort|sorts|weed|eliminat|discard bad|wrong|useless|poor",
            "stay|stayed|unchanged|same useless|bad|wrong|nothing|fail",
            "fail|fails|failed|failing bad|wrong|useless|method|map|expos|prov|reject|caught|no",
            "can|could|only|just refus|refut|reject|disprov|falsif|exclud|catch|condemn map|method|"
            "it|them|bad|wrong",
        ),
        "why that is not enough": (
            "not enough|suffic|guarant|prov|proof|show|mean|impl|tell|say|establish|follow|ensure|"
            "necessar|demonstr|verif|test|check|compar|right|correct|faithful|true|know|justif|"
            "evidence|settle|answer|reveal|confirm|highlight|mark|point|choose|pick|good",
            "nothing about|more|else|of|whether|correct|right|matter|say|said",
            "noise|garbage|nonsense|rubbish|hash|checksum|meaningless|arbitrary|useless|scrambl|dots",
            "not matter",
            "correct|right|truth|meaning|relevan|importan|faithful|explain|explanation not|never",
            "wrong|buggy|broken|incorrect chang|depend|react|pass",
            "least|silent",
            "never yes",
            "must|should compare|eras|test|check",
            "=/=|!=|≠ correct|right|true|truth",
            "bad|false|mislead|terrible|silly|stupid|absurd map|pixel|method|pass|also|still|even",
            "wrong map|pixel|method|also|still|could|can|might|may|place",
            "still|yet|remain|left|leaves open|unknown|unclear|wrong|question|unproven|untested|"
            "unproved|seen|shown|fail",
            "open whether|if|question|still",
            "only|just|merely|minimum|minimal|half necessary|first|depend|sensitiv|weight|learn|"
            "rule|exclud|refut|catch|reject|that|condition",
            "necessary but|not|and|condition",
            "chance|half",
            "both digit|truth|right|true",
            "look|looked elsewhere|everywhere|both",
            "minimum|minimal check|test|requirement|condition|demand|standard",
            "correct|truth|true|faithful no|unknown|open|maybe",
            "could|can|might|may wrong|nonsense|other|else|mislead|elsewhere|false|irrelevant|lie|"
            "deceive|err|background|anything|nothing",
            "another|other|further|separate|more test|check|control|experiment|question|proof",
            "need|needs|requires|takes eras|occlu|control|compar|further|other|more|test",
            "whether",
            "unknown|unclear|unproven|uncertain|untested|unsure|maybe|perhaps",
            "remain check|test|seen|shown|found",
            "anything|everything|any|every map|function|method|thing pass|chang|differ",
        ),
    },
    misled={
        (
            f"is so|therefore|thus|hence mattered|matter|important|relevant {_FIRM}",
            f"is means|mean|prov|shows|show|know mattered|matter|important|relevant ~weight ~param "
            f"{_FIRM}",
            "is pixels|map correct|right|faithful|true|trust|reliable ~not ~whether ~nothing "
            "~could ~need ~if ~open ~even ~may ~might ~can ~unknown ~still ~yet ~prove ~test",
        ): "That would be more than the check can show. Which maps pass it although they show "
        "nothing?",
        (
            "is network|model trust|reliab|safe ~not ~whether ~nothing ~only ~if ~open ~could ~may "
            "~might ~cannot",
        ): "The check is one of maps, not of the network. What does it say of the maps?",
        (
            "random|untrained network|model|weights meaningless|useless|nonsense ~pass ~map ~even",
            "nothing to compare",
            "not random|untrained network|model sense|good|use|useful|work",
        ): "The random network is there as a control: what can a map of it still show?",
        (
            "is map|maps|method image|edge|input|picture only|alone|just|merely ~if ~exclud ~rule "
            "~would ~same ~not ~catch ~reject ~refut ~ignor",
            "is map depend image|input|picture ~if ~not ~weight ~param ~learn ~train ~would ~only",
        ): "A map of the image only would not have changed. What does the change tell?",
    },
    mistakes=[
        Mistake(
            "Then they would have stayed the same. What was changed, and what did the maps do?",
            when=lambda reason: re.search(
                r"not (on|from|by) (the |its )?(weights|param|network|model|learn)", reason, re.I
            ),
        ),
        Mistake(
            "That is the option once more. Say why it is so: which method would pass the check, "
            "and show nothing that matters?",
            when=_repeats,
        ),
    ],
    hints=(
        "Think of the worst method that would still pass.",
        "Make up a map from the weights that has nothing to do with pixels that matter, such as "
        "noise. Does it change when the weights are random?",
    ),
)
