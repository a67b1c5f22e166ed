"""Check exercise 13.3: why clipping is no medicine for a vanishing gradient."""

from __future__ import annotations

from minigrad.classroom.reasons import Choice

MEDICINE = Choice(
    id="13.3",
    asks="your judgment on clipping in the network that does not learn",
    option="c",
    right="Clipping is a ceiling. What lies on the floor does not touch it.",
    why_not={
        "a": "Clipping to norm 1 does not give everything norm 1. What becomes of a gradient that "
        "is shorter than the limit? (And the norm is one for all parameters together.)",
        "b": "Then something is clipped: everything gets as short as that limit. Was the trouble "
        "that the gradients are too long?",
        "d": "When it acts makes a difference for sums of passes. Is this network's trouble one of "
        "timing? What would the hook do to these gradients?",
    },
    ideas={
        "what clipping can do to a gradient": (
            "ONLY|can|does small|short|shrink|reduc|decreas|lower|cut|limit|scale|down|diminish",
            "NOTHING|cannot large|big|grow|increas|enlarg|amplif|longer|up|rais|boost|lift|bigger",
            "clip|it shrink|reduc|shorten|decreas|diminish|lower|cap|limit|cut",
            "scal down|smaller",
            "factor at most|below|under|less|<=|<|one|1",
            "upper|maxim|ceiling|cap|roof",
            "for|against|cure|prevent|treat|help|meant|about|stop explod|large|long|big|huge",
            "above|exceed|beyond|over|longer|larger|bigger|greater limit|threshold|bound|max_norm",
            "min one|1",
            "factor one|1",
            "large|long|big gradient ONLY|short|small",
            "small gradient LEAVE|unchanged|untouched|alone|stay|stays|remain|left|leaves|through",
            "unchanged|untouched|unaffected|unclipped|unscaled|unmodified",
            "remain|stay|stays|keeps how|same",
            "they|gradients remain|stay as|what",
            "not explod",
            "not touch|affect|alter|clip",
            "not chang anything|gradient|them|small|short",
        ),
        "how large the gradients are here": (
            "too|so|very|already|are|is|stay|remain|still small|tiny|short|weak|minuscul|low",
            "small|tiny|short gradient|norm|they|these|those|layer|one",
            "gradient|norm|they|these|those|layer|all|everything|it below|under|within|shorter",
            "vanish",
            "need|needs|must|should|have|want grow|larger|bigger|longer|increas|amplif|boost|up",
            "1e-|10^-|10**-|10-",
            "near|almost|nearly|close|practically|virtually|basically zero|0|nothing",
            "less|smaller|shorter|lower than|as limit|1|one|threshold|bound|max_norm",
            "not exceed|reach|above|over|large|long|big|explod",
            "gradient|they disappear|fade|die|shrink|lost",
            "power ten",
            "ONLY large|big|long|explod|exceed",
            "almost|hardly|barely|nearly|practically|scarcely no|any|nothing gradient|signal|norm",
            "far|much|way|well less|below|under|smaller|lower|shorter",
            "<< 1|c|limit|threshold",
            "barely|hardly|scarcely mov|anything|exist|there|any|alive",
        ),
        "what becomes of the proportions between the layers": (
            "ratio|proportion|relat",
            "one|same|common|single|equal factor|scal|number|multipl|divi",
            "first|early|earlier|upstream|low layer still|remain|stay|tiny|small|far|nothing",
            "differ|imbalance|gap|spread between|layer",
            "each|every layer factor|lose|loses|multipl|shrink",
        ),
    },
    misled={
        (
            "is rate too small|low|slow",
            "is larger|higher|bigger learn|rate",
        ): "Section 1 tried a hundred times the rate. The question here is what clipping does to "
        "the gradients.",
        (
            "is gradient|they|all exactly zero|0",
            "is gradient|they|are zero ~near ~almost ~nearly ~close ~practic ~virtual ~basic ~to "
            "~toward ~so ~multipl ~effective ~essential",
            "is dead|died unit|neuron|sigmoid",
        ): "They are not zero: section 2 printed them. How large are they, and what does clipping "
        "do to something of that size?",
        (
            "is after|late|behind backward|pass|accumul",
            "is before backward|accumul ~hook",
            "is wrong|different time|moment|place",
        ): "When it acts is not the point here. What does it do to a gradient that is shorter than "
        "the limit?",
        (
            "is hook would|better|instead|should help|work|right|need|use",
            "is use|need|better hook instead",
        ): "A hook that clips does the same to such a gradient. What is that?",
        (
            "is gradient|gradients|they|norms are too large|big|long|high ~when ~if ~that ~where "
            "~only ~just ~for ~against ~which ~cure ~would ~help ~can ~reduc ~shrink ~limits",
        ): "Look at the curve of the first network again: does it climb or fall toward the input?",
        (
            "is limit|threshold too small|tight|strict ~gradient ~norm ~they ~these ~them ~all",
            "is larger|bigger|higher limit|threshold help|work|need|would ~gradient ~norm",
        ): "With a larger limit still less is clipped. How large are these gradients?",
        (
            "is limit|threshold|1|one too large|high|big",
            "is lower|smaller limit|threshold help|work|need|would",
            "is need|use|choose smaller|lower limit|threshold",
        ): "And with a smaller limit, what would become of these gradients?",
        (
            "is make|makes|rais|lift|boost|scal|bring up|larger|bigger|longer ~not ~never ~cannot "
            "~ONLY ~explod ~no ~smaller ~down ~need "
            "~should ~must ~want ~would ~instead ~cure",
        ): "Does clipping ever make a gradient longer? Read the formula with the minimum again.",
        (
            "is gradients|they|network explod|are explod ~clip ~for ~against ~vanish ~not ~when "
            "~if ~cure ~only ~would ~help ~opposite",
            "is too large|big|long ~clip ~when ~if ~that ~what ~only ~for ~against ~which",
        ): "Look at the curve of the first network again: does it climb or fall toward the input?",
        (
            "is direction chang|wrong|turn|lost|destroy|bend",
        ): "clip_grad_norm_ keeps the direction. What does it do with the size?",
        ("is overflow|nan|infinit|underflow",): "Nothing here is infinite or not a number. How "
        "large are the gradients, and what does clipping do to them?",
        (
            "is batch|data|label|noise|optimizer|momentum|adam",
        ): "The question is what clipping does to gradients of this size. Begin with the formula.",
    },
    model="Clipping multiplies by a factor of at most 1, so it can only make gradients smaller; "
    "here they are far below the limit already, and between the layers nothing changes.",
    hints=(
        "Put a gradient of norm 1e-12 into the formula with the minimum.",
        "Which factor comes out of it? And what would a smaller limit do? Say what clipping can "
        "do to a gradient, and how large the gradients of this network are.",
    ),
)
