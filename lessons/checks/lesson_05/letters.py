"""The exercises of lesson 05 that are answered by hand: a letter with a reason, and an order."""

from __future__ import annotations

import re

from minigrad.classroom.exercises import Mistake, Order
from minigrad.classroom.reasons import Choice

FIRES = Choice(
    id="05.1",
    asks="which of the four lines does not make the hook on model.body fire",
    option="c",
    right="Hooks belong to the call of a module. Who runs its forward goes around them.",
    model="Hooks are run by the call of a module, before and after its forward. This line runs "
    "body's forward alone, so body itself is never called.",
    why_not={
        "a": "That leaves out the hooks of model itself. How does its forward get to body?",
        "b": "no_grad decides what is recorded for the backward pass. Does a forward hook need "
        "that record?",
        "d": "A module may be called by anyone, not only by its parent. Is this a call?",
    },
    ideas={
        "what happens to body in that line, or does not": (
            "not call ~hook ~hooks",
            "this|c one|line not",
            "forward|body.forward instead|rather|place body",
            "not do|does|did call body|module ~called",
            "not parenthes|bracket body|module",
            "not call body|module|model.body there|here|itself|through|via|only|just|forward|so|"
            "with|bracket",
            "not GO|run|runs|use|uses|made|make through|via|by call|__call|module.__call|"
            "nn.module.__call|wrapper|it",
            "instead|rather|place|than call|__call",
            "bypass|circumvent|avoid|evad|sidestep|skip|omit|miss|cut|ignor|dodg|shortcut",
            "GO|get|gets|walk|step|reach|line AROUND",
            "left|leav|outside out|aside|away|call",
            "without|neither|nor step|1|3|before|after|call|__call|wrapper|machinery|hook",
        ),
        "what is run of body, and what is not": (
            "forward|body.forward|model.body.forward|.forward ONLY|direct|itself|bare|straight|"
            "raw|plain|ordinary|normal|usual|naked|pure|method|function|by",
            "step|number|part|stage|line|only|just 2|two|second|middle",
            "other three|lines|all body",
            "somewhere body|self.body call",
            "forward|body.forward instead|rather|place",
            "this|line|here body.forward|model.body.forward",
            "write|writing|says|using .forward|forward|body.forward|model.body.forward",
            "forward|body.forward|model.body.forward NOTHING the|a|through|call|go|know",
            "forward|body.forward|.forward do|does|make|makes|is comput|calc|work|math",
        ),
        "what hooks belong to": (
            "hook part|belong|liv|sit|hang|wrap|stand|add|attach|tied|bound|don|made|manag|handl|"
            "implement|job|care|look call|__call|module.__call|wrapper|calling",
            "hook RUN|look|work|exist|come|get only|when|if|by|unless|from|in|through|via|"
            "around|after|before|on call|__call|call_impl|module.__call|nn.module.__call|"
            "wrapper|bracket|parenthes",
            "hook come|with call|bracket|parenthes",
            "call|__call|module.__call|wrapper|call_impl run|fire|trigger|start|look|invok|care|"
            "do|does|make|handl|know|find|add hook",
            "hook|hooks around|outside|beside|surround|wrap forward",
            "hook not in|inside|part|within|belong forward|it",
            "not forward|body.forward know|RUN|fir|look|car|contain|hav|has|touch hook",
            "forward|body.forward|.forward has|know|contain|find NOTHING",
            "step|steps 1|3|one|three|before|after|around",
            "before after",
            "around|past|by hook|hooks|wrapper|machinery",
            "hook need|want|requir|expect body|call|module",
            "1 3",
            "middle",
            "hook + forward",
            "after forward|body.forward ~before",
        ),
    },
    misled={
        (
            "called with call here|there ~other ~d",
        ): "Is it? Read line (c) once more: what stands behind body?",
        ("features|model.features called there|here ~then ~result"): (
            "The features play no part in it: the hook sits on body. What is done with body here?"
        ),
        ("hook needs|wants grad_fn|graph|gradient ~not",): (
            "A forward hook sees values, and asks for no graph. What runs a module's hooks?"
        ),
        (
            "not model|root call ~body ~body.forward ~model.body ~model.body.forward",
            "hook only root|whole",
        ): "The line marked (d) does not call model either. Which call is it that counts?",
        (
            "hook move|moves|moved|jump|shift|wander features",
            "is features instead RUN|hook",
        ): "A hook stays where it was registered. What is missing at body itself?",
        (
            "is call|calls|calling|called body direct|outside|hand ~forward ~.forward "
            "~body.forward ~model.body.forward",
            "is body call outside|hand",
        ): "So does (d): it calls body from outside. What is done to body here?",
        "is hook|hooks inside forward": "If hooks were part of forward, this line would run them. "
        "Look at the three steps of a call.",
        "not forward called on ~hook ~only ~so": "It is forward that this line runs. What does it "
        "leave out?",
        (
            "not regist|registered ~forward",
            "handle KEEP|lost|gone|remov",
            "not gradient|grad|backward so|need|then ~matter ~affect",
            "hook train|training|eval",
        ): "The hook is registered, and it needs no gradient and no mode. What does not happen "
        "in this line?",
        (
            "shape|shapes|size|sizes|float32|float64|dtype",
            "is error|crash|fails",
        ): "This line runs without an error. What does not happen in it?",
    },
    mistakes=[
        Mistake(
            "Pre-hooks do not run there either: look at the three steps of a call.",
            when=lambda reason: re.search(
                r"forward\S* \w+ (only|just) (the |its )?pre", reason, re.I
            ),
        ),
    ],
    hints=(
        "Look at the three steps of a call, in section 2. Which of them does each line run for "
        "body?",
        "In three of the lines body is called, by you or by its parent's forward. Find the one "
        "that reaches for something else than the call.",
    ),
)

LETTERS = Order(
    id="05.4",
    asks="the letters A, B, C, D and E in the order in which they are printed",
    expected=("C", "D", "B", "E", "A"),
    right="In at the root, through the children one by one, and out at the root.",
    hints=(
        "Which of the hooks run before their module, which after it? And when is net finished?",
        "Walk through the call: net begins, net[0] begins and ends, net[1] begins and ends, "
        "net ends. Write the letters beside it, then mind prepend.",
    ),
    mistakes=[
        Mistake(
            "Exactly the other way round. A call begins at the root, and ends there.",
            value=("A", "E", "B", "D", "C"),
        ),
        Mistake(
            "The hook with prepend=True goes in front of those that its module already has.",
            value=("C", "B", "D", "E", "A"),
        ),
        Mistake(
            "That is the order in which they were registered. Three modules are at work here.",
            value=("A", "B", "C", "D", "E"),
        ),
        Mistake(
            "prepend puts a hook in front of those of its own module, not in front of those of "
            "others.",
            value=("D", "C", "B", "E", "A"),
        ),
        Mistake(
            "prepend puts a hook in front of another one. It does not take its place.",
            when=lambda names: sorted(names) == ["A", "C", "D", "E"],
        ),
        Mistake(
            "A hook runs for the one module that it was registered on, and that is called once "
            "here.",
            when=lambda names: len(names) > 5 and {*names} == {*"ABCDE"},
        ),
        Mistake(
            "A pre-hook runs before its module, and net is not finished before its parts are.",
            value=("C", "D", "B", "A", "E"),
        ),
        Mistake(
            "A pre-hook runs when its own module is called. When is net[1] called?",
            when=lambda names: names.index("E") < max(names.index("B"), names.index("D")),
        ),
        Mistake(
            "A forward hook runs when its module is finished. Is net finished before its parts "
            "are?",
            when=lambda names: names[-1] != "A" and names[0] == "C" and len(names) == 5,
        ),
        Mistake(
            "The pre-hook of net runs before anything inside of net.",
            when=lambda names: names[0] in "BDE",
        ),
    ],
)
