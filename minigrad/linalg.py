"""Linear algebra under the names of `torch.linalg`: `minigrad.linalg.solve(A, B)`.

All functions take batches of matrices in the last two dimensions. `LinAlgError`, a `RuntimeError`,
says that a matrix is singular or not positive-definite.
"""

from minigrad.ops.calling.decomposing import eig as eig
from minigrad.ops.calling.decomposing import eigh as eigh
from minigrad.ops.calling.decomposing import eigvals as eigvals
from minigrad.ops.calling.decomposing import eigvalsh as eigvalsh
from minigrad.ops.calling.decomposing import linalg_qr as qr
from minigrad.ops.calling.decomposing import linalg_svd as svd
from minigrad.ops.calling.decomposing import svdvals as svdvals
from minigrad.ops.calling.determining import linalg_det as det
from minigrad.ops.calling.determining import linalg_slogdet as slogdet
from minigrad.ops.calling.factoring import cholesky_ex as cholesky_ex
from minigrad.ops.calling.factoring import linalg_cholesky as cholesky
from minigrad.ops.calling.fitting import lstsq as lstsq
from minigrad.ops.calling.fitting import matrix_exp as matrix_exp
from minigrad.ops.calling.fitting import pinv as pinv
from minigrad.ops.calling.matrices import LinAlgError as LinAlgError
from minigrad.ops.calling.matrix_norms import cond as cond
from minigrad.ops.calling.matrix_norms import linalg_norm as norm
from minigrad.ops.calling.matrix_norms import matrix_norm as matrix_norm
from minigrad.ops.calling.matrix_norms import matrix_rank as matrix_rank
from minigrad.ops.calling.matrix_norms import vector_norm as vector_norm
from minigrad.ops.calling.more_products import linalg_cross as cross
from minigrad.ops.calling.more_products import matrix_power as matrix_power
from minigrad.ops.calling.more_products import multi_dot as multi_dot
from minigrad.ops.calling.more_products import vecdot as vecdot
from minigrad.ops.calling.patterns import linalg_vander as vander
from minigrad.ops.calling.products import matmul as matmul
from minigrad.ops.calling.solving import inv as inv
from minigrad.ops.calling.solving import inv_ex as inv_ex
from minigrad.ops.calling.solving import solve as solve
from minigrad.ops.calling.solving import solve_ex as solve_ex
from minigrad.ops.calling.solving import solve_triangular as solve_triangular
from minigrad.ops.calling.solving import tensorinv as tensorinv
from minigrad.ops.calling.solving import tensorsolve as tensorsolve
from minigrad.ops.calling.triangles import linalg_diagonal as diagonal

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
