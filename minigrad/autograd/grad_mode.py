"""Find the grad modes where PyTorch has them: `torch.autograd.grad_mode.no_grad` and the others."""

from minigrad.autograd.inference import inference_mode
from minigrad.autograd.modes import enable_grad, no_grad, set_grad_enabled
from minigrad.autograd.multithreading import set_multithreading_enabled

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
