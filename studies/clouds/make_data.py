"""Makes data/train.npz, data/test.npz and data/ATTRIBUTION.csv from Debian's package of furniture meshes.

    apt-get download sweethome3d-furniture          # 1.8-1, 120 MB
    dpkg-deb -x sweethome3d-furniture_1.8-1_all.deb package
    python3 make_data.py package/usr/share/sweethome3d/furniture pool.npz

The first argument is the folder that holds the five .sh3f files. The second is where the denser samples go that train.py draws
its clouds from: 16,384 points a training mesh, half floats, 19 MB, not committed. The same package gives the same files
with the same numpy (Debian 12: python3-numpy 1.24.2); two minutes on one core.

What is done to a mesh: polygons become fans of triangles; the catalogue's modelRotation, where there is one; each axis is
stretched so that the bounding box has the catalogue's width, height and depth, as the furniture program itself does; y up becomes
z up by (x, y, z) -> (x, -z, y), a rotation, so that the front of a chair looks to -y; points evenly by area from all faces,
inner ones too; mean to zero, largest norm to one; coordinates to the nearest 1/512.
"""

import argparse
import csv
import hashlib
import io
import re
import zipfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SEED, POINTS, POOL, STEP, TEST = 20240611, 1024, 16384, 512, 1 / 3
CLASSES = ("bed", "cabinet", "chair", "lamp", "opening", "plant", "sofa", "table", "vehicle", "vessel")

# Library, how its licence is called, and whom to name beside the catalogue's creator.
LIBRARIES = {
    "BlendSwap-CC-0": ("CC0-1.0", ""),
    "BlendSwap-CC-BY": ("CC-BY-3.0", "blendswap.com"),
    "KatorLegaz": ("CC-BY-3.0-US", "Andrew Kator & Jennifer Legaz"),
    "Scopia": ("CC-BY-3.0", "Emmanuel Puybaret / eTeks and Scopia Visual Interfaces Systems, s.l."),
}

# A class is a pattern that the English name must match as a whole word, one that name and tags must not match, and categories (any
# when empty). The first class that takes a mesh has it. Meshes that are several things at once, or none of these, are left out.
RULES = (
    ("vehicle", r"truck|city bus|car model|ford focus", r"", ()),
    ("lamp", r".*(lamp|light|lamppost|lantern)", r"flashlight|fluorescent|track|emergency", ("Lights", "Exterior")),
    ("opening", r".*(door|window).*", r"elevator|blind", ("Doors and windows",)),
    ("plant", r".*(plant|tree|bamboo|cactus|orchids|tulips|yucca|spathiphyllum|white lily|ficus|bush|acacia|pine|blue pine.*|"
     r"copper beech|cypress|maple|poplar|peach blossom|flowers|pine under snow)", r"box", ("Living room", "Exterior")),
    ("sofa", r".*(sofa|couch).*", r"opened", ("Living room", "Exterior", "Bedroom")),
    ("chair", r".*(chair|stool|class seat|puff).*", r"wheelchair|ottoman|pool", ()),
    ("bed", r".*\b(bed|crib|futon)\b.*", r"bedside", ("Bedroom",)),
    ("cabinet", r".*(cabinet|wardrobe|cupboard|bookcase|shelves|dresser|locker|chest|tv stand).*", r"freezer|sink", ()),
    ("table", r".*(table|desk).*", r"bedside|fan|bat|football|lamp|dressing|changing|pool|tablet", ()),
    ("vessel", r".*(cup|mug|bowl|bottle|vase|jar|pottery|flacon|teapot|cosmetics pot|beer glass|cocktail glass|creamer|sugar)|glass|milk",
     r"flowers|spray", ()),
)


def classify(item):
    """The class of an entry of the catalogue, or None."""
    name, tags = item["name"].lower(), item.get("tags", "").lower().split(", ")
    for label, want, never, categories in RULES:
        if categories and item["category"] not in categories or never and re.search(rf"\b({never})\b", ", ".join([name, *tags])):
            continue
        # Cars go by their makes; their tag says what they are.
        if re.fullmatch(want, name) or label == "vehicle" and item["category"] == "Vehicles" and {"car", "smart car"} & {name, *tags}:
            return label
    return None


def catalogue(archive):
    """The entries of a library: dicts of the catalogue's keys."""
    text = archive.read("PluginFurnitureCatalog.properties").decode("latin-1")
    items = {}
    for key, number, value in re.findall(r"^(\w+)#(\d+)\s*=(.*)$", text, re.M):
        value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), value.strip())
        items.setdefault(int(number), {})[key] = value
    return [items[n] for n in sorted(items)]


def read_obj(text):
    """Vertices (n, 3) and triangles (m, 3) of a Wavefront OBJ file."""
    vertices, triangles = [], []
    for line in text.replace("\\\n", " ").splitlines():
        word = line.split()
        if not word:
            continue
        if word[0] == "v":
            vertices.append([float(w) for w in word[1:4]])
        elif word[0] == "f":
            at = [int(w.split("/", 1)[0]) for w in word[1:]]
            at = [i - 1 if i > 0 else len(vertices) + i for i in at]
            triangles += [(at[0], at[k], at[k + 1]) for k in range(1, len(at) - 1)]
    return np.array(vertices), np.array(triangles)


def place(item, vertices, used):
    """Catalogue pose, z up, in metres. `used` are the vertices that faces use: others must not count for the box."""
    if "modelRotation" in item:
        vertices = vertices @ np.array(item["modelRotation"].split(), float).reshape(3, 3).T
    low, high = vertices[used].min(0), vertices[used].max(0)
    size = np.array([float(item[k]) for k in ("width", "height", "depth")]) / 100
    extent = high - low
    # A flat model keeps its flatness.
    vertices = (vertices - low) * np.where(extent > 0, size / np.where(extent > 0, extent, 1), 1)
    return np.stack([vertices[:, 0], -vertices[:, 2], vertices[:, 1]], 1)


def sample(vertices, triangles, count, random):
    """Points evenly by area."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    edges = np.cumsum(area)
    at = np.searchsorted(edges, random.random(count) * edges[-1], side="right")
    u, v = random.random((2, count, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    return a[at] + u * (b - a)[at] + v * (c - a)[at]


def normalise(points):
    points = points - points.mean(0)
    return points / np.linalg.norm(points, axis=1).max()


def chamfer(a, b):
    """Mean distance to the nearest point of the other cloud, both ways."""
    d = np.sqrt(np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0))
    return (d.min(0).mean() + d.min(1).mean()) / 2


def families(meshes):
    """Numbers of the groups that must not be torn apart by the split: identical files, variants by name, near-equal shapes."""
    group = list(range(len(meshes)))

    def join(i, j):
        a, b = group[i], group[j]
        if a != b:
            group[:] = [a if g == b else g for g in group]

    def stem(m):
        # window_2x3_arched and window_2x3, concept-sedan-01v1 and -01v2, door and door2: one designer's variants.
        return m["library"], m["label"], re.sub(r"[-_]?(closed|opened|arched|regular|sport|textured|snow)", "", re.sub(r"v?\d+", "", m["key"].lower())).strip("-_")

    clouds, again = ([m["dense"][k : k + 1024].astype(np.float32) for m in meshes] for k in (0, 1024))
    # How far two independent samples of one mesh lie apart: a thin board less than a tree.
    own = [chamfer(a, b) for a, b in zip(clouds, again)]
    spins = [clouds, [c * np.float32([-1, -1, 1]) for c in clouds],
             *[[c[:, [1, 0, 2]] * np.float32(s) for c in clouds] for s in ([-1, 1, 1], [1, -1, 1])]]
    near = []
    for i, m in enumerate(meshes):
        for j in range(i):
            o = meshes[j]
            if m["file"] == o["file"] or stem(m) == stem(o) and len(stem(m)[2]) > 8:
                join(i, j)
            elif m["label"] == o["label"]:
                d = min(chamfer(clouds[i], s[j]) for s in spins) / min(own[i], own[j])
                near.append((d, m["key"], o["key"]))
                if d < NEAR:
                    join(i, j)
    return group, sorted(near)


# Shapes of one class, turned by quarters about the vertical, count as one when they lie at most this many times as far apart as two
# samples of one mesh do.
NEAR = 1.25


def split(meshes, group):
    """True for the meshes that are to test: of every class, whole families at random until a third is reached."""
    test = np.zeros(len(meshes), bool)
    random = np.random.default_rng(SEED)
    for label in CLASSES:
        own = [i for i, m in enumerate(meshes) if m["label"] == label]
        sets = sorted({group[i] for i in own})
        want = round(TEST * len(own))
        for g in random.permutation(sets):
            members = [i for i in own if group[i] == g]
            # A large family would fill the test with one shape: it goes to training.
            if len(members) <= 3 and test[own].sum() + len(members) <= want:
                test[members] = True
    return test


def save(path, **arrays):
    """An .npz file whose bytes depend on its arrays alone (numpy's own holds no times either, but is less compressed)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, buffer.getvalue(), compresslevel=9)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("furniture", type=Path, help="folder with the .sh3f files")
    arguments.add_argument("pool", type=Path, help="where to write the denser training samples")
    arguments.add_argument("--list", action="store_true", help="print the classes and stop")
    options = arguments.parse_args()

    meshes = []
    for library in LIBRARIES:
        with zipfile.ZipFile(options.furniture / f"{library}.sh3f") as archive:
            for item in catalogue(archive):
                label = classify(item)
                if label is None:
                    continue
                item.update(library=library, label=label, key=item["id"].split("#", 1)[1])
                if options.list:
                    print(label, library, item["key"], item["name"], sep="\t")
                    continue
                raw = archive.read(item["model"].lstrip("/"))
                vertices, triangles = read_obj(raw.decode("latin-1"))
                vertices = place(item, vertices, np.unique(triangles))
                item["file"] = hashlib.sha256(raw).hexdigest()
                seed = [SEED, *hashlib.sha256(f"{library}/{item['key']}".encode()).digest()[:8]]
                random = np.random.default_rng(seed)
                item["cloud"] = np.round(normalise(sample(vertices, triangles, POINTS, random)) * STEP) / STEP
                item["dense"] = normalise(sample(vertices, triangles, POOL, random))
                meshes.append(item)
    if options.list:
        return

    meshes.sort(key=lambda m: (CLASSES.index(m["label"]), m["library"], m["key"]))
    group, near = families(meshes)
    for d, a, b in near[:40]:
        print(f"{d:.4f} {a} {b}")
    test = split(meshes, group)
    label = lambda m: CLASSES.index(m["label"])
    for side, mine in (("train", ~test), ("test", test)):
        own = [m for m, t in zip(meshes, mine) if t]
        save(HERE / "data" / f"{side}.npz", points=np.stack([m["cloud"] for m in own]).astype("<f4"),
             labels=np.array([label(m) for m in own], "<i4"), names=np.array([f"{m['library']}/{m['key']}" for m in own]))
        if side == "train":
            save(options.pool, points=np.stack([m["dense"] for m in own]).astype("<f2"), labels=np.array([label(m) for m in own], "<i4"))
    with open(HERE / "data" / "ATTRIBUTION.csv", "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["split", "row", "class", "name", "title", "author", "attribution", "licence", "family"])
        at = {False: 0, True: 0}
        for m, t, g in zip(meshes, test.tolist(), group):
            licence, credit = LIBRARIES[m["library"]]
            rows.writerow(["test" if t else "train", at[t], m["label"], f"{m['library']}/{m['key']}", m["name"], m["creator"], credit, licence, g])
            at[t] += 1
    for c in CLASSES:
        n = [m["label"] == c for m in meshes]
        print(f"{c:8s} {sum(n):4d} train {sum(np.array(n) & ~test):4d} test {sum(np.array(n) & test):4d} families {len({g for g, k in zip(group, n) if k})}")
    print(len(meshes), test.sum())


if __name__ == "__main__":
    main()
