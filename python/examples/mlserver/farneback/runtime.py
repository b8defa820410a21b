"""A custom runtime of MLServer that serves OpenCV's dense optical flow (Gunnar Farneback, SCIA 2003).

Input pair: [N, 2, H, W], two grey frames in time order, intensities 0 to 255. Output field: [N, 2, H, W], the displacement in pixels from
the first frame to the second, u along columns, then v along rows (down).
"""

import cv2
import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class Farneback(MLModel):
    async def load(self) -> bool:
        cv2.setNumThreads(1)
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        pairs = NumpyCodec.decode_input(payload.inputs[0])
        fields = np.empty(pairs.shape, np.float32)
        for pair, field in zip(pairs, fields):
            flow = cv2.calcOpticalFlowFarneback(
                np.ascontiguousarray(pair[0]), np.ascontiguousarray(pair[1]), None,
                pyr_scale=0.5, levels=3, winsize=15, iterations=3, poly_n=5, poly_sigma=1.2, flags=0,
            )
            field[:] = np.moveaxis(flow, -1, 0)
        return InferenceResponse(
            model_name=self.name, model_version=self.version,
            outputs=[NumpyCodec.encode_output("field", fields)],
        )
