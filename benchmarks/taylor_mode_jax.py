"""The peer of `taylor_mode.py`: Taylor coefficients along v = ∇F(x) by `jax.experimental.jet`, compiled, in float64."""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time

import jax
import jax.numpy as jnp
from jax.experimental.jet import jet

jax.config.update("jax_enable_x64", True)


def main() -> None:
    """Print the median processor time of three rounds, and memory, for a width and an order."""
    n, order = int(sys.argv[1]), int(sys.argv[2])
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    theta = (
        jax.random.normal(keys[0], (n, 8)),
        jax.random.normal(keys[1], (n, n)),
        jax.random.normal(keys[2], (n,)),
    )
    x = jnp.ones(8)

    def F(theta: tuple[jax.Array, ...]) -> jax.Array:
        W, V, a = theta
        h = jnp.tanh(W @ x / jnp.sqrt(8.0))
        return a @ jnp.tanh(V @ h / jnp.sqrt(n)) / jnp.sqrt(n)

    @jax.jit
    def coefficients(theta: tuple[jax.Array, ...]) -> tuple[jax.Array, list[jax.Array]]:
        v = jax.grad(F)(theta)

        def along(t: jax.Array) -> jax.Array:
            return F(tuple(p + t * q for p, q in zip(theta, v, strict=True)))

        return jet(along, (0.0,), ([1.0] + [0.0] * (order - 1),))

    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    jax.block_until_ready(coefficients(theta))
    found = []
    for _ in range(3):
        began = time.process_time()
        jax.block_until_ready(coefficients(theta))
        found.append(time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps({"seconds": statistics.median(found), "start": start, "peak": peak}) + "\n")


if __name__ == "__main__":
    main()
