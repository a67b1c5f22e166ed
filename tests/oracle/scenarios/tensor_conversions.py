"""Tensors converted and asked: devices, types, Python numbers, shapes, NumPy."""

from __future__ import annotations

from ..expressions import add_expressions
from .tools import Family

family = Family()

add_expressions(
    family,
    {
        "Questions with one answer": """
            x.is_cpu, x.is_cuda, x.is_meta, x.is_mps, x.is_quantized, x.is_sparse
            x.is_xpu, x.device, x.layout, x.get_device(), x.is_pinned(), x.is_shared()
            x.is_conj(), x.is_neg()
            torch.is_conj(x), x.to_dense() is x
            torch.channels_last, torch.sparse_coo, torch.strided
            torch.set_default_device(None) ;; torch.get_default_device()
            torch.typename(x), torch.typename(i), torch.typename(3), torch.typename("a")
            x.new_empty(2, 3).shape
        """,
        "Devices and layouts": """
            torch.device('cpu:-1')
            torch.device('cpu:x')
            torch.device('foo')
            torch.device('')
            torch.device('CPU')
            torch.device('cpu:')
            torch.device('cpu:1:2')
            torch.device('cu da')
            torch.device('foo:1')
            torch.device('123')
            torch.device(type='cuda', index=1)
            torch.device(torch.device('cpu', 2))
            str(torch.device('cuda:1'))
            {torch.device('cpu'): 1}[torch.device('cpu')]
            torch.zeros(2, device='xpu')
            x.cpu(memory_format=torch.preserve_format) is x
            x.pin_memory()
            torch.get_default_device()
            (torch.cuda.is_available(), torch.cuda.device_count(), torch.accelerator.device_count())
            torch.accelerator.synchronize()
            torch.accelerator.current_device_index()
            (torch.backends.mps.is_available(), torch.backends.cudnn.is_available())
            x.double(memory_format=torch.preserve_format)
            x.clone(memory_format=torch.contiguous_format)
            x.contiguous(memory_format=torch.contiguous_format) is x
            x.is_contiguous(memory_format=torch.contiguous_format)
            (torch.is_floating_point(x), torch.is_complex(c), torch.is_signed(b))
            torch.is_complex(3)
    (c.is_complex(), b.is_signed(), x.is_signed(), torch.zeros(1, dtype=torch.uint8).is_signed())
        """,
        "Conversion to other types and places": """
            x.to('mps')
            x.cpu() is x
            x.to()
            x.to(None)
            x.to(torch.int8, copy=True)
            x.to('cpu', torch.float64)
            x.to(device='cpu', dtype=torch.float64)
            x.to(torch.float64, False, True)
            x.to(i)
            x.to('float64')
            x.to(float)
            x.to(int)
            x.to(bool)
            x.to(complex)
            x.to('cpu', non_blocking=True) is x
            x.to(dtype=None) is x
            x.to(torch.float32, memory_format=torch.preserve_format) is x
            x.to(torch.device('cpu'), copy=True) is x
            x.to(dtype=float)
            x.t().to(torch.float64).stride()
            x.t().to(torch.float64, memory_format=torch.contiguous_format).stride()
            x.t().to(memory_format=torch.contiguous_format).stride()
            x.to(x) is x
            x.to(torch.zeros(1), copy=True) is x
            x.to('cpu', torch.int64, True, True)
            x.to(torch.device('cpu'), torch.int64)
            r.to(torch.float64)
            r.to(torch.int64)
            r.to(torch.float32) is r
            r.to(torch.float32, copy=True)
            r.to(dtype=torch.float16)
            x.float() is x
            x.cfloat()
            x.cdouble()
            x.t().clone().stride()
            x.t().clone(memory_format=torch.contiguous_format).stride()
            x.t().clone(memory_format=torch.preserve_format).stride()
            x.type(torch.float64, non_blocking=True)
            x.type(dtype=torch.int64)
            c.to(torch.float32)
            c.float()
            c.to(torch.int64)
            c.to(torch.bool)
            x.type('torch.DoubleTensor')
            x.type('torch.FooTensor')
            x.half() * np.float64(2)
            x.double() * np.float32(1.1)
        """,
        "Limits of types": """
            torch.iinfo(torch.float32)
            torch.iinfo(torch.bool)
            torch.finfo(torch.int8)
            torch.finfo('float32')
    [(f.bits, f.max, f.min, f.dtype) for f in map(torch.iinfo, (torch.uint8, torch.int64))]
            torch.finfo(float).eps
            torch.iinfo(3)
            [d.itemsize for d in (torch.bfloat16, torch.float32)]
            x.dtype in (torch.float16, torch.bfloat16)
            torch.int64.to_complex()
            torch.bfloat16.is_floating_point
        """,
        "Shapes": """
            torch.Size([1, 2, 3])[:2]
            torch.Size([1]) + torch.Size([2])
            torch.Size([1]) + (2,)
            torch.Size()
            torch.Size(3)
            torch.Size([1.5])
            torch.Size(['a'])
            torch.Size([]).numel()
            (torch.Size((1, 2)) == (1, 2), hash(torch.Size((1, 2))) == hash((1, 2)))
            torch.Size([torch.tensor(1)])
            torch.Size(torch.tensor([1, 2]))
            torch.Size([1, 2]) + [3]
            torch.Size([True])
            torch.Size([np.int64(2)])
            torch.Size([1]) + (1.5,)
            torch.Size(range(3))
            torch.Size([1, 2]).count(1)
            (x.shape[0:1], x.shape[-1], x.shape[::-1], [*x.shape])
        """,
        "NumPy numbers as operands": """
            np.float32(2) * x
            x * np.float64(2)
            np.float64(2) * i
            i * np.float64(2)
            i * np.int64(2)
            i + np.int8(2)
            i + np.uint8(2)
            np.float64(2) / x
            np.float64(2) - i
            np.float64(2) ** x
            np.int64(2) < i
            np.float64(2) < x
            i / np.int64(2)
            b * np.int64(2)
            b + np.float32(2)
            c * np.float64(2)
            np.float64(2) * r
            x + np.bool_(True)
        """,
        "Conversions to Python and NumPy, and questions": """
            torch.zeros(2, names=('a',))
            float(r)
            r[0].item()
            int(r[0])
            bool(x)
            bool(x[:0])
            float(x)
            int(torch.tensor(nan))
            int(torch.tensor(inf))
            complex(torch.tensor(1j))
            bool(torch.tensor(1j))
            [1, 2, 3][torch.tensor(1)]
            [1, 2, 3][torch.tensor([1])]
            [1, 2, 3][torch.tensor(1.0)]
            list(range(torch.tensor(3)))
            len(torch.tensor(3))
            iter(torch.tensor(3))
            list(reversed(i))
            reversed(torch.tensor(3))
            list(reversed(x))
            1 in i
            'a' in x
            np.ones(1) in x
            None in x
            f'{torch.tensor(3.14159):.2f}'
            f'{x:.2f}'
            f'{torch.tensor(3):5}'
            f'{torch.tensor([3.5]):.1f}'
            format(torch.tensor(2.0))
            f'{torch.tensor(True)}'
            f'{r[0]:.1f}'
            '%d' % torch.tensor(2)
            '%s' % torch.tensor(2.0)
            '%.2f' % torch.tensor(2.0)
            abs(x)
            sum(i)
            max(torch.tensor(3), torch.tensor(5))
            sorted([torch.tensor(3), torch.tensor(1)])
            torch.zeros(0, 2).tolist()
            torch.zeros(2, 0).tolist()
            torch.zeros(0).item()
            x.item()
            torch.tensor(0.1).item()
            x.size(5)
            x.size('a')
            x.size(1.0)
            torch.tensor(3).size(0)
            torch.tensor(3).stride(0)
            x.size(-1)
            x.size(dim=1)
            x.stride(3)
            x.stride(-1)
            x.stride(dim=0)
            (x.element_size(), x.nbytes, x.itemsize, x[1:].storage_offset(), x.ndimension())
            (x.untyped_storage().nbytes(), len(x.untyped_storage()), x.untyped_storage().size())
            x.type_as(i)
            x.new([1, 2])
            r.numpy()
            r.numpy(force=True)
            np.asarray(r)
            np.array([r[0], r[1]])
            np.array([x[0], x[1]])
            x.to_dense() is x
            torch.numel(x)
            torch.numel(3)
            torch.is_floating_point(3)
            x * True
        """,
    },
)
