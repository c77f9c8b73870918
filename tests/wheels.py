"""Makes small wheels for the tests of what installs packages."""

import io
import zipfile


def wheel(name, version, tag="py3-none-any", requires=(), files=()):
    """The name and the bytes of a wheel; ``files`` are pairs of a path and its content."""
    lines = [f"Name: {name}", f"Version: {version}", "Provides-Extra: classroom"]
    lines += [f"Requires-Dist: {needed}" for needed in requires]
    info = f"{name}-{version}.dist-info"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for path, content in files:
            packed.writestr(path, content)
        packed.writestr(f"{info}/METADATA", "\n".join(["Metadata-Version: 2.1", *lines, ""]))
        packed.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        packed.writestr(f"{info}/RECORD", "")
    return f"{name}-{version}-{tag}.whl", file.getvalue()
