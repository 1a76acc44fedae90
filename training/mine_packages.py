"""Mine pairs from permissively licensed Python packages: `python -m training.mine_packages NAMES OUT`.

Each wheel is downloaded by name without its dependencies; a package whose metadata names no permissive licence
is left out. `licences.tsv` beside the output keeps what was used, with version and licence.
"""

from __future__ import annotations

import gzip
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from training.mine import Output, doc_pair, functions, inner_pairs

_PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Zlib|Unlicense|CC0|0BSD|HPND)\b", re.I
)
_RESTRICTED = re.compile(
    r"\b(GPL|LGPL|AGPL|MPL|EUPL|CC-BY|Proprietary|Commercial)\b|Mozilla|General Public", re.I
)
MAX_FUNCTIONS = 12_000


def licence_of(metadata: str) -> str:
    lines = metadata.split("\n\n")[0].splitlines()
    said = [line.split(":", 1)[1].strip() for line in lines if re.match(r"License(-Expression)?:", line)]
    said += [line.rsplit("::", 1)[1].strip() for line in lines if line.startswith("Classifier: License ::")]
    return "; ".join(part[:60] for part in said if part and part != "OSI Approved")


def mine(wheel: Path, out: Output) -> tuple[str, bool]:
    """Add a wheel's pairs; its licence, and whether it was used."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next((name for name in names if name.endswith(".dist-info/METADATA")), None)
        licence = licence_of(archive.read(metadata).decode("utf-8", "replace")) if metadata else ""
        if not _PERMISSIVE.search(licence) or _RESTRICTED.search(licence):
            return licence, False
        rng = random.Random(wheel.name)
        sources = [n for n in names if n.endswith(".py") and "/_vendor/" not in n and "/vendor/" not in n]
        rng.shuffle(sources)
        found = 0
        for name in sources:
            if archive.getinfo(name).file_size > 300_000:
                continue
            for function in functions(name, archive.read(name)):
                found += 1
                pair = doc_pair(function)
                if pair:
                    out.add("doc", pair[0], function.document(pair[1]))
                for kind, text, without in inner_pairs(function, rng):
                    out.add(kind, text, function.document(without))
            if found > MAX_FUNCTIONS:
                break
    return licence, True


def main(names: Path, target: Path) -> None:
    with (target / "licences.tsv").open("a") as card:
        for name in names.read_text().split():
            path = target / f"pypi-{name}.jsonl.gz"
            if path.exists():
                continue
            with tempfile.TemporaryDirectory() as folder:
                pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, name]  # fmt: skip
                try:
                    subprocess.run(pip, capture_output=True, check=False, timeout=120)
                except subprocess.TimeoutExpired:
                    continue
                wheels = list(Path(folder).glob("*.whl"))
                if not wheels or wheels[0].stat().st_size > 80_000_000:
                    continue
                out = Output()
                licence, used = mine(wheels[0], out)
                card.write(
                    f"{name}\t{wheels[0].name.split('-')[1]}\t{licence}\t{'used' if used else 'left out'}\n"
                )
                card.flush()
                if used and out.lines:
                    with gzip.open(path, "wt", encoding="utf-8", compresslevel=4) as stream:
                        stream.write("\n".join(out.lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
