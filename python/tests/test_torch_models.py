"""Whole models made of covered reductions: inside `exact()` outputs and gradients have one set of bits, whatever the order of the data, the batch and the threads."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from warpfold.torch import exact  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.bfloat16]


def bits(x):
    return x.detach().flatten().contiguous().view(torch.uint8).tolist()


def hard(generator, *shape, dtype):
    """Numbers of many magnitudes, whose plain sums depend on their order."""
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    return (x * 2.0 ** torch.randint(-12, 12, shape, generator=generator)).to(dtype)


def embedding_bag(table, tokens, bags, count):
    """Means of the rows of a table: what `EmbeddingBag` computes, by `index_add`."""
    rows = table.index_select(0, tokens)
    sums = table.new_zeros(count, table.shape[1]).index_add(0, bags, rows)
    sizes = torch.zeros(count, dtype=table.dtype).index_add(0, bags, torch.ones(len(bags), dtype=table.dtype))
    return sums / sizes.clamp(min=1)[:, None]


def graph_layer(x, weight, source, target):
    """Messages along weighted edges, their mean at each node, and a norm of each node: `index_add` and `vector_norm`."""
    messages = x.index_select(0, source) * weight[:, None]
    sums = torch.zeros_like(x).index_add(0, target, messages)
    degrees = torch.zeros(len(x), dtype=x.dtype).index_add(0, target, torch.ones(len(target), dtype=x.dtype))
    mixed = x + sums / degrees.clamp(min=1)[:, None]
    return mixed / (1 + torch.linalg.vector_norm(mixed, dim=1, keepdim=True))


def loss_and_gradients(output, *leaves):
    loss = (output * output).mean()
    return [loss, *torch.autograd.grad(loss, leaves)]


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bags_of_embeddings_do_not_depend_on_order_or_threads(dtype):
    generator = torch.Generator().manual_seed(1)
    table = hard(generator, 50, 8, dtype=dtype).requires_grad_()
    tokens = torch.randint(0, 50, (4000,), generator=generator)
    bags = torch.randint(0, 40, (4000,), generator=generator)
    found = set()
    for count in [1, 2, 4]:
        torch.set_num_threads(count)
        for _ in range(3):
            order = torch.randperm(4000, generator=generator)
            with exact():
                output = embedding_bag(table, tokens[order], bags[order], 40)
                found.add(str([bits(x) for x in [output, *loss_and_gradients(output, table)]]))
    assert len(found) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_bag_has_the_bits_that_it_has_alone(dtype):
    generator = torch.Generator().manual_seed(2)
    table = hard(generator, 50, 8, dtype=dtype)
    tokens = torch.randint(0, 50, (600,), generator=generator)
    bags = torch.arange(600) % 12
    with exact():
        for size in range(1, 13):
            for first in range(0, 12, size):
                count = min(size, 12 - first)
                inside = (bags >= first) & (bags < first + count)
                part = embedding_bag(table, tokens[inside], bags[inside] - first, count)
                alone = [embedding_bag(table, tokens[bags == b], bags[bags == b] - b, 1) for b in range(first, first + count)]
                assert bits(part) == bits(torch.cat(alone)), (size, first)


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_layers_of_a_graph_do_not_depend_on_the_edges_order_or_threads(dtype):
    generator = torch.Generator().manual_seed(3)
    x = hard(generator, 60, 8, dtype=dtype).requires_grad_()
    weight = hard(generator, 3000, dtype=dtype).requires_grad_()
    source, target = torch.randint(0, 60, (2, 3000), generator=generator)
    found = set()
    for count in [1, 2, 4]:
        torch.set_num_threads(count)
        for _ in range(3):
            order = torch.randperm(3000, generator=generator)
            with exact():
                edges = weight[order], source[order], target[order]
                output = graph_layer(graph_layer(x, *edges), *edges)
                found.add(str([bits(y) for y in [output, *loss_and_gradients(output, x, weight)]]))
    assert len(found) == 1


def test_torch_alone_depends_on_the_edges_order():
    """What the tests above would see without `exact()`."""
    generator = torch.Generator().manual_seed(3)
    x = hard(generator, 60, 8, dtype=torch.float32)
    weight = hard(generator, 3000, dtype=torch.float32)
    source, target = torch.randint(0, 60, (2, 3000), generator=generator)
    orders = [torch.randperm(3000, generator=generator) for _ in range(9)]
    found = {str(bits(graph_layer(x, weight[order], source[order], target[order]))) for order in orders}
    assert len(found) > 1
