"""An image in a message, in words: kind, size, dimensions. Nothing is decoded but its first bytes."""

import base64
import binascii
import struct
from typing import Final

from pitree.sessions.entries import JsonObject
from pitree.ui.documents.values import compact, file_size

# A JPEG says how large it is after its metadata, of which there can be some 64 kB a segment.
_HEAD_CHARACTERS: Final = 1 << 18
_PNG_START: Final = b"\x89PNG\r\n\x1a\n"
# Start-of-frame markers: C0 to CF without the tables (C4, C8, CC) that share the range.
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_line(block: JsonObject, *, whole: bool = True) -> str:
    """Return `image/png · 812 kB · 1024 × 768`, as far as an image block lets it know.

    Not `whole`: only the beginning of the data may be there, so nothing is said of its size.
    """
    kind = block.get("mimeType")
    parts = [compact(kind, 60) if kind else "image"]
    data = block.get("data")
    if isinstance(data, str) and data:
        if whole:
            parts.append(file_size(len(data) * 3 // 4 - data[-2:].count("=")))
        dimensions = image_dimensions(data)
        if dimensions is not None:
            parts.append(f"{dimensions[0]} × {dimensions[1]}")
    else:
        parts.append("no data" if data is None or data == "" else "data is no string")
    return " · ".join(parts)


def image_dimensions(data: str) -> tuple[int, int] | None:
    """Return width and height in pixels of a PNG, JPEG, GIF or WebP in base64, None for anything else."""
    usable = data[:_HEAD_CHARACTERS]
    try:
        head = base64.b64decode(usable[: len(usable) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    try:
        if head.startswith(_PNG_START):
            width, height = struct.unpack_from(">II", head, 16)
        elif head.startswith((b"GIF87a", b"GIF89a")):
            width, height = struct.unpack_from("<HH", head, 6)
        elif head.startswith(b"\xff\xd8"):
            width, height = _jpeg_dimensions(head)
        elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            width, height = _webp_dimensions(head)
        else:
            return None
    except struct.error:  # it ends before it says
        return None
    return (width, height) if width and height else None


def _jpeg_dimensions(head: bytes) -> tuple[int, int]:
    place = 2
    while True:
        mark, marker = struct.unpack_from(">BB", head, place)
        if mark != 0xFF:
            return 0, 0
        if marker == 0xFF:  # padding
            place += 1
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", head, place + 5)
            return width, height
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers without a length
            place += 2
        elif marker in {0xD9, 0xDA}:  # the image, or its end, without a frame
            return 0, 0
        else:
            (length,) = struct.unpack_from(">H", head, place + 2)
            place += 2 + max(2, length)


def _webp_dimensions(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":  # both less one, in 24 bits each
        low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", head, 24)
        return (high_width << 16 | low_width) + 1, (high_height << 16 | low_height) + 1
    if kind == b"VP8L":  # both less one, in 14 bits each
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
