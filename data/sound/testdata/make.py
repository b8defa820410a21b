"""Makes the WAV files beside it with scipy 1.10.1 and Python's own wave module (Debian 12): two channels at 8000 Hz, 5 numbers each, of

    channel 0: 0, 1/2, -1/2, 1/4, -1      channel 1: 0, -1/4, 1/8, -1/8, 3/4
"""

import struct
import wave
from pathlib import Path

import numpy as np
from scipy.io import wavfile

HERE = Path(__file__).resolve().parent
X = np.array([[0, 0], [0.5, -0.25], [-0.5, 0.125], [0.25, -0.125], [-1, 0.75]])

wavfile.write(HERE / "u8.wav", 8000, (X * 128 + 128).astype(np.uint8))
wavfile.write(HERE / "i16.wav", 8000, (X * 32768).astype(np.int16))
wavfile.write(HERE / "i32.wav", 8000, (X * 2**31).astype(np.int32))
wavfile.write(HERE / "f32.wav", 8000, X.astype(np.float32))
wavfile.write(HERE / "f64.wav", 8000, X)
with wave.open(str(HERE / "i24.wav"), "wb") as w:
    w.setnchannels(2)
    w.setsampwidth(3)
    w.setframerate(8000)
    w.writeframes(b"".join(struct.pack("<i", int(v * 2**23))[:3] for v in X.ravel()))
# WAVE_FORMAT_EXTENSIBLE by hand: 24 valid bits of 24, PCM; a chunk of odd length and one of remarks before the data.
body = (HERE / "i24.wav").read_bytes()[44:]
fmt = struct.pack("<HHIIHHHHI", 0xFFFE, 2, 8000, 48000, 6, 24, 22, 24, 3) + struct.pack("<H", 1) + bytes.fromhex("000000001000800000aa00389b71")
chunks = b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"LIST" + struct.pack("<I", 3) + b"abc\0" + b"data" + struct.pack("<I", len(body)) + body
(HERE / "extensible.wav").write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)
