"""Why the passes of some scenarios are not PyTorch's event by event, and where each reason holds.

A reason is found by nodes that only PyTorch's log has, or is given for scenarios by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple


class Reason(NamedTuple):
    """A reason, and what it explains.

    Attributes:
        text: The reason.
        nodes: Patterns of nodes that only PyTorch has, with blanks between.
        scenarios: Patterns of scenarios, "family.name".
        beside: Other nodes that are only there because of it.
    """

    text: str
    nodes: str = ""
    scenarios: tuple[str, ...] = ()
    beside: str = ""


REASONS = {
    # ------------------------------------------------------------ one node and several
    "second derivative": Reason(
        "PyTorch's rule is one operation, with a node of its own where a second pass reads it. "
        "minigrad's is made of elementary operations, or of another one with that derivative.",
        nodes="*BackwardBackward0 *BackwardDataBackward0 LogitBackward0",
        beside="SqueezeBackward1 SumBackward0",
    ),
    "second derivative of a convolution": Reason(
        "PyTorch differentiates all three gradients of a convolution in one node. minigrad has one "
        "for each, and the bias's is a sum.",
        scenarios=("second_derivatives_reach.conv*",),
    ),
    "one node": Reason(
        "PyTorch has one node for the operation. minigrad makes it of others.",
        nodes="GluBackward0 NansumBackward0 TakeBackward0 AddcmulBackward0 AddcdivBackward0 "
        "RemainderBackward0 RoundBackward1 ClampBackward0 PixelShuffleBackward0 "
        "EmbeddingBagBackward0 DotBackward0 LinalgLstsqBackward0 PackPaddedSequenceBackward0 "
        "SparseCooTensorWithDimsAndTensorsBackward0",
        beside="ViewBackward0",
    ),
    "attention": Reason(
        "PyTorch computes attention in one node, and splits the projections by selecting. minigrad "
        "multiplies, takes the softmax and multiplies again.",
        nodes="ScaledDotProductFlashAttentionForCpuBackward0",
        beside="SelectBackward0 SplitWithSizesBackward0 SqueezeBackward1 UnsqueezeBackward0",
    ),
    "pooling": Reason(
        "PyTorch has a node for the pooling, or for undoing it. minigrad multiplies with a matrix "
        "of averages, gathers the largest, or scatters them.",
        nodes="AdaptiveAvgPool?DBackward0 AdaptiveMaxPool?DBackward0 MaxUnpool?DBackward0",
    ),
    "products of entries": Reason(
        "PyTorch divides the product by each entry unless one is zero. minigrad multiplies those "
        "before an entry with those after it.",
        scenarios=("operations_edges.products_with_zeros",),
        beside="DivBackward0 CopySlices ExpandBackward0 SumBackward1 UnsqueezeBackward0",
    ),
    "indices": Reason(
        "PyTorch's rule fills or adds at listed places along a dimension. minigrad's writes at "
        "indices of all dimensions, or along a diagonal.",
        nodes="IndexFillBackward1 IndexAddBackward0",
        beside="ViewBackward0 SqueezeBackward1 SumBackward1",
    ),
    # ------------------------------------------------------------ the same nodes
    "outputs of a node": Reason(
        "PyTorch's node of a group norm also has mean and deviation as outputs, so that a hook "
        "sees three gradients, two of them None.",
        scenarios=("saved_attributes.told_after_release",),
    ),
    "conversion": Reason(
        "minigrad's log shows what the rule gave, PyTorch's what was converted to the input's "
        "type.",
        scenarios=("module_conversion.converting",),
    ),
    # ------------------------------------------------------------ other passes
    "transforms": Reason(
        "torch.func differentiates forward, and in batches, without passes or with one for many "
        "rows. minigrad runs backward passes, one for each row.",
        scenarios=(
            "function_transforms.*",
            "functional.hessian_shapes",
        ),
        beside="SumBackward1",
    ),
    "lifetimes": Reason(
        "PyTorch keeps the node of a leaf from one pass to the next while gradcheck runs; and a "
        "result that a hook packed as it is keeps its own graph forever. minigrad lets it go, and "
        "the next pass makes a new one.",
        scenarios=(
            "gradcheck.verdict_the_input_itself",
            "seldom_met.anomalies_beside_hooks",
        ),
    ),
    "hooks put on late": Reason(
        "PyTorch's log shows the hooks of a node that are there when the pass begins, and not one "
        "that is put on the node while it runs. minigrad's shows that, too.",
        scenarios=("module_fuzzed.a_hook_registered_by_a_hook_after_accumulation",),
    ),
}


def reasons_of(family: str, name: str, apart: Mapping[str, str]) -> list[str]:
    """Give the keys of a scenario's reasons; none if they leave a node of PyTorch's unexplained."""
    left = {*apart["only there"].split()}
    found = []
    for key, reason in REASONS.items():
        own = {each for each in left if _matches(each, reason.nodes.split())}
        if own or _matches(f"{family}.{name}", reason.scenarios):
            found.append(key)
    for key in found:
        patterns = f"{REASONS[key].nodes} {REASONS[key].beside}".split()
        left = {each for each in left if not _matches(each, patterns)}
    return [] if left else found


def _matches(name: str, patterns: tuple[str, ...] | list[str]) -> bool:
    return any(fnmatchcase(name, each) for each in patterns)
