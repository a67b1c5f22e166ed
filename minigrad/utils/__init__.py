"""Small pieces that every other room may use, in the places where PyTorch keeps them."""
