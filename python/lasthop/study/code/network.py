"""Policies that are networks in ONNX's format, which onnxruntime computes: the layer `onnx`.

The network has one input, rows of observations as 32-bit or 64-bit numbers, and its first output has the values of the controls in
the units of their knobs: one for each, or one for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data.extras import lacks
from .loading import CodeError
from .policy import Policy

if TYPE_CHECKING:
    from ..._core import AgentContext, Observation

TYPES = {"tensor(float)": "float32", "tensor(double)": "float64"}


def load_network(content: bytes, name: str) -> type[Policy]:
    """Returns the policy of the network in `content`, a file that the scenario calls `name`. Raises `CodeError` if it is none."""
    if reason := lacks("onnx"):
        raise CodeError(f"{name}: a policy in ONNX {reason}")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread: the same sums in the same order, whatever the machine.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - onnxruntime has many
        raise CodeError(f"{name}: onnxruntime does not read it: {str(error).splitlines()[0]}") from None
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type not in TYPES:
        kinds = ", ".join(one.type for one in inputs)
        raise CodeError(f"{name}: one input of {' or '.join(TYPES)} is needed, not {kinds or 'none'}")
    return _policy_of(session, inputs[0], name)


def _policy_of(session: Any, source: Any, name: str) -> type[Policy]:
    import numpy as np

    class Network(Policy):
        """The network as a policy."""

        def __init__(self, context: AgentContext) -> None:
            count, width = len(context.quantities), source.shape[-1] if source.shape else None
            if isinstance(width, int) and width != count:
                raise CodeError(f"{name}: its input has {width} numbers, and the agent observes {count}")

        def act(self, observation: Observation) -> list[float]:
            row = np.asarray([observation.values], dtype=TYPES[source.type])
            (values, *_) = session.run(None, {source.name: row})
            return [float(value) for value in np.asarray(values).reshape(-1)]

    return Network
