"""Compare vectors: their distances and angles."""

from __future__ import annotations

from minigrad.ops.calling.measuring import cosine_similarity, pairwise_distance

__all__ = ["cosine_similarity", "pairwise_distance"]
