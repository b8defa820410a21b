"""Writes the files of this folder with nibabel, an independent writer of NIfTI: python make.py"""
import gzip
import numpy as np
import nibabel as nib

x = np.arange(24).reshape(2, 3, 4)  # i, j, k


def save(name, data, affine, order="<", slope=None, inter=None, codes=("s",), dtype=None):
    header = nib.Nifti1Header(endianness=order)
    header.set_data_dtype(dtype or data.dtype)
    image = nib.Nifti1Image(data, affine, header)
    if "s" not in codes:
        image.set_sform(None, code=0)
    if "q" in codes:
        image.set_qform(affine, code=1)
    elif "s" in codes:
        image.set_qform(None, code=0)
    else:
        image.set_qform(None, code=0)
    if slope is not None:
        image.header.set_slope_inter(slope, inter)
    nib.save(image, name)


right = np.diag([2.0, 2.0, 2.0, 1.0])
left = np.diag([-2.0, 2.0, 2.0, 1.0])
flat = np.diag([1.0, 1.0, 3.0, 1.0])
tilted = right.copy()
tilted[1, 2] = 0.7
c, s = np.cos(0.4), np.sin(0.4)
turned = np.diag([1.5, 1.5, 1.5, 1.0])
turned[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ turned[:3, :3]
turned[:3, 3] = [10, -20, 30]
for t in ["uint8", "int16", "int32", "float32", "float64", "int8", "uint16", "uint32", "int64", "uint64"]:
    save(f"{t}.nii", x.astype(t), right)
save("big.nii", x.astype("int16"), right, order=">")
save("qform.nii", x.astype("int16"), turned, codes=("q",))
save("neither.nii", x.astype("int16"), right, codes=())
save("left.nii", x.astype("int16"), left)
save("flat.nii", x.astype("int16"), flat)
save("sheared.nii", x.astype("int16"), tilted)
save("scaled.nii", x.astype("int16"), right, slope=0.5, inter=3)
save("channels.nii", np.stack([x, x + 100], axis=-1).astype("int16"), right)
nib.save(nib.Nifti2Image(x.astype("int16"), right), "two.nii")
with open("int16.nii", "rb") as f, open("packed.nii.gz", "wb") as g:
    g.write(gzip.compress(f.read(), mtime=0))
