"""Cuts the fonts of the window out of their published packages.

Input, unpacked side by side in one folder (`dpkg -x` for the Debian packages, `tar xzf` for the npm one):

    Debian  fonts-inter             4.0~beta7  Inter-*.otf          SIL Open Font License 1.1
    Debian  fonts-jetbrains-mono    2.242      JetBrainsMono-*.ttf  SIL Open Font License 1.1
    npm     @phosphor-icons/web     2.1.2      Phosphor*.ttf        MIT

Run:  python3 build.py FOLDER        (needs fontTools)

It writes the font files next to this script and, between the two marker lines of `src/ui/icons.rs`, one constant
for each icon in ICONS. What is cut:

* characters outside Latin, Greek, Cyrillic, punctuation, arrows and mathematics;
* the layout feature `calt`, because `<-`, `->` and `<=` in formulas and names must stay as typed;
* for the two tabular cuts everything but figures and signs, with the tabular figures written into the character
  map: egui applies no optional font features, so `tnum` cannot be switched on later.
"""

import pathlib
import re
import sys

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

HERE = pathlib.Path(__file__).parent
ICONS_RS = HERE.parent.parent / "src" / "ui" / "icons.rs"

TEXT = [
    *range(0x20, 0x250), *range(0x2B0, 0x2F0), *range(0x300, 0x460), *range(0x490, 0x4F0), *range(0x1E00, 0x1F00),
    *range(0x2000, 0x2070), *range(0x2070, 0x20C0), *range(0x2100, 0x2190), *range(0x2190, 0x2300),
    0x2318, *range(0x25A0, 0x2600), 0x2713, 0x2717, 0xFFFD,
]
FIGURES = [ord(c) for c in "0123456789.,:;+-−±×/%()<>=≤≥≈~ \u00a0\u2007\u2009\u202f"]
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl"]

ICONS = """
arrow-clockwise arrow-counter-clockwise arrow-down arrow-left arrow-right arrows-clockwise bell calendar-blank
caret-double-right caret-down caret-right caret-up chart-bar chart-bar-horizontal chart-line chart-line-up
chart-scatter check check-circle circle-dashed circle-half clock copy dots-three export file file-code file-csv
floppy-disk folder-open function funnel gauge grid-four hash hourglass-medium info intersect key list-numbers
magnifying-glass pause pencil-simple play plus question scales seal-check seal-question sliders-horizontal stop table
tag terminal text-t toggle-left trash warning warning-circle waveform x x-circle
""".split()


def subset(font, characters, features):
    options = Options()
    options.layout_features = features
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.notdef_outline = True
    options.hinting = True
    options.desubroutinize = False
    cutter = Subsetter(options)
    cutter.populate(unicodes=characters)
    cutter.subset(font)
    return font


def write(font, name):
    path = HERE / name
    font.save(path)
    print(f"{name:34} {path.stat().st_size:>8}  {len(font.getBestCmap())} characters")


def find(folder, name):
    found = sorted(folder.rglob(name))
    if not found:
        sys.exit(f"{name} is not below {folder}: unpack the packages named at the top of this script there")
    return found[0]


def tabular(font):
    """Makes the tabular figures and signs the ones that the character map gives."""
    table = font["GSUB"].table
    record = next(f for f in table.FeatureList.FeatureRecord if f.FeatureTag == "tnum")
    swap = {}
    for index in record.Feature.LookupListIndex:
        for part in table.LookupList.Lookup[index].SubTable:
            swap.update(getattr(part, "ExtSubTable", part).mapping)
    for cmap in font["cmap"].tables:
        if cmap.isUnicode():
            for code, glyph in list(cmap.cmap.items()):
                cmap.cmap[code] = swap.get(glyph, glyph)
    figures = [font.getBestCmap()[ord(digit)] for digit in "0123456789"]
    widest = max(font["hmtx"][glyph][0] for glyph in figures)
    for glyph in figures:  # one figure of the semibold is 3 of 2816 units too narrow
        advance, bearing = font["hmtx"][glyph]
        assert widest - advance <= 3, f"{glyph} is not a tabular figure"
        font["hmtx"][glyph] = (widest, bearing)
    return font


def icon_codes(folder):
    css = find(folder, "style.css").parent.parent.joinpath("regular", "style.css").read_text()
    return dict(re.findall(r'\.ph\.ph-([a-z0-9-]+):before \{\s*content: "\\([0-9a-f]+)"', css))


def write_constants(codes):
    lines = []
    for name in sorted(ICONS):
        lines.append(f"/// Phosphor `{name}`.")
        lines.append(f"pub(super) const {name.upper().replace('-', '_')}: char = '\\u{{{codes[name]}}}';")
    lines.append("/// Every icon above with its name.")
    lines.append("#[cfg(test)]")
    lines.append("pub(super) const ALL: &[(&str, char)] = &[")
    lines += [f'    ("{name}", {name.upper().replace("-", "_")}),' for name in sorted(ICONS)]
    lines.append("];")
    head, rest = ICONS_RS.read_text().split("// begin of the generated part\n")
    tail = rest.split("// end of the generated part\n")[1]
    ICONS_RS.write_text(
        head + "// begin of the generated part\n" + "\n".join(lines) + "\n// end of the generated part\n" + tail
    )


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__))
    for weight in ("Regular", "Medium", "SemiBold"):
        font = subset(TTFont(find(folder, f"Inter-{weight}.otf")), TEXT, FEATURES)
        write(font, f"Inter-{weight}.otf")
    for weight in ("Regular", "SemiBold"):
        font = tabular(TTFont(find(folder, f"Inter-{weight}.otf")))
        write(subset(font, FIGURES, []), f"Inter-{weight}-tabular.otf")
    for weight in ("Regular", "Medium"):
        font = subset(TTFont(find(folder, f"JetBrainsMono-{weight}.ttf")), TEXT, ["mark", "mkmk", "ccmp", "locl"])
        write(font, f"JetBrainsMono-{weight}.ttf")
    codes = icon_codes(folder)
    unknown = [name for name in ICONS if name not in codes]
    if unknown:
        sys.exit("not in Phosphor: " + ", ".join(unknown))
    for name in ("Phosphor", "Phosphor-Fill"):
        write(subset(TTFont(find(folder, f"{name}.ttf")), [int(codes[i], 16) for i in ICONS], []), f"{name}.ttf")
    write_constants(codes)


if __name__ == "__main__":
    main()
