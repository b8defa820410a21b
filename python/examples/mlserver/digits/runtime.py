"""A custom runtime of MLServer that serves an ONNX file with ONNX Runtime: the file that parameters.uri of model-settings.json names."""

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import get_model_uri


class ONNX(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            await get_model_uri(self._settings), options, providers=["CPUExecutionProvider"]
        )
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        feed = {x.name: NumpyCodec.decode_input(x) for x in payload.inputs}
        names = [o.name for o in payload.outputs or []] or [o.name for o in self.session.get_outputs()]
        return InferenceResponse(
            model_name=self.name, model_version=self.version,
            outputs=[NumpyCodec.encode_output(n, y) for n, y in zip(names, self.session.run(names, feed))],
        )
