#!/usr/bin/python3
"""Makes the image fixtures: make.py CIFAR-10/test_batch.bin, into its own folder.

One real photograph, cut to 13 x 11, in every form that a PNG or JPEG file can have. NAME.raw
is what must come out of it: planes of bytes, by this script's own arithmetic for PNG and by
PIL's decoder for JPEG. The PNG writer is written out because PIL cannot make most of these.
"""
import pathlib
import struct
import sys
import zlib

from PIL import Image

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 13, 11


def photo(index):
    record = open(sys.argv[1], 'rb').read()[3073 * index + 1:3073 * (index + 1)]
    return [[tuple(record[c * 1024 + y * 32 + x] for c in range(3)) for x in range(32)]
            for y in range(32)]


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack(
        '>I', zlib.crc32(kind + data))


def pack_row(samples, bits):
    if bits == 16:
        return b''.join(struct.pack('>H', s) for s in samples)
    out, used, byte = bytearray(), 0, 0
    for s in samples:
        byte, used = byte << bits | s, used + bits
        if used == 8:
            out.append(byte)
            byte = used = 0
    if used:
        out.append(byte << (8 - used))
    return bytes(out)


def rows_of(pixels, bits):
    return b''.join(b'\0' + pack_row([s for p in row for s in p], bits) for row in pixels)


def adam7(pixels, bits):
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
              (1, 0, 2, 2), (0, 1, 1, 2))
    parts = ([row[x0::dx] for row in pixels[y0::dy]] for x0, y0, dx, dy in passes)
    return b''.join(rows_of(part, bits) for part in parts if part and part[0])


def png(name, kind, bits, pixels, planes, palette=None, clear=None, interlace=False):
    """pixels[y][x] = samples as stored; planes: what it must be read as."""
    data = adam7(pixels, bits) if interlace else rows_of(pixels, bits)
    head = struct.pack('>IIBBBBB', len(pixels[0]), len(pixels), bits, kind, 0, 0,
                       int(interlace))
    out = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head)
    out += chunk(b'PLTE', bytes(v for p in palette for v in p)) if palette else b''
    out += chunk(b'tRNS', clear) if clear else b''
    out += chunk(b'IDAT', zlib.compress(data, 9)) + chunk(b'IEND', b'')
    (HERE / f'{name}.png').write_bytes(out)
    raw(name, planes)


def raw(name, planes):
    (HERE / f'{name}.raw').write_bytes(
        bytes(p[c] for c in range(len(planes[0][0])) for row in planes for p in row))


def each(pixels, f):
    return [[f(x, y, p) for x, p in enumerate(row)] for y, row in enumerate(pixels)]


def luma(p):
    return (19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) >> 16


def on_black(v, alpha):
    return (v * alpha + 127) // 255


def eight(v):
    return (v * 255 + 32767) // 65535


def make_grey(rgb):
    grey = each(rgb, lambda x, y, p: (luma(p),))
    for bits in (1, 2, 4, 8):
        low = each(grey, lambda x, y, p: (p[0] >> (8 - bits),))
        png(f'grey{bits}', 0, bits, low,
            each(low, lambda x, y, p: (p[0] * 255 // (2**bits - 1),)))
    deep = each(grey, lambda x, y, p: (p[0] * 256 + 7 * x * y % 256,))
    png('grey16', 0, 16, deep, each(deep, lambda x, y, p: (eight(p[0]),)))
    alpha = each(grey, lambda x, y, p: (p[0], 20 * x))
    png('grey-alpha', 4, 8, alpha, each(alpha, lambda x, y, p: (on_black(*p),)))
    hole = grey[3][5][0]
    png('grey-hole', 0, 8, grey,
        each(grey, lambda x, y, p: (0 if p[0] == hole else p[0],)),
        clear=struct.pack('>H', hole))
    png('interlaced', 0, 8, grey, grey, interlace=True)


def make_colour(rgb):
    png('rgb8', 2, 8, rgb, rgb)
    deep = each(rgb, lambda x, y, p: tuple(v * 256 + 11 * x * y % 256 for v in p))
    png('rgb16', 2, 16, deep, each(deep, lambda x, y, p: tuple(map(eight, p))))
    alpha = each(rgb, lambda x, y, p: p + (25 * y,))
    png('rgb-alpha', 6, 8, alpha,
        each(alpha, lambda x, y, p: tuple(on_black(v, p[3]) for v in p[:3])), interlace=True)
    for bits in (2, 8):
        colours = sorted({p for row in rgb for p in row})[:2**bits]
        near = each(rgb, lambda x, y, p: (min(
            range(len(colours)),
            key=lambda i: sum((a - b)**2 for a, b in zip(colours[i], p))),))
        png(f'palette{bits}', 3, bits, near, each(near, lambda x, y, p: colours[p[0]]),
            palette=colours)
    png('palette-alpha', 3, 8, near,
        each(near, lambda x, y, p: tuple(
            on_black(v, 100 if p[0] == 0 else 255) for v in colours[p[0]])),
        palette=colours, clear=bytes([100]))


def jpeg(name, image, mode, **how):
    image.save(HERE / f'{name}.jpg', **how)
    decoded = Image.open(HERE / f'{name}.jpg').convert(mode)
    pixels = list(decoded.getdata())
    pixels = [p if isinstance(p, tuple) else (p,) for p in pixels]
    raw(name, [pixels[y * decoded.width:(y + 1) * decoded.width]
               for y in range(decoded.height)])


def make_jpegs(rgb):
    image = Image.new('RGB', (32, 32))
    image.putdata([p for row in rgb for p in row])
    jpeg('photo', image, 'RGB', quality=90)
    jpeg('photo-grey', image.convert('L'), 'L', quality=90)
    jpeg('photo-progressive', image, 'RGB', quality=90, progressive=True)
    jpeg('photo-cmyk', image.convert('CMYK'), 'RGB', quality=90)


first = photo(0)
small = [row[9:9 + WIDTH] for row in first[10:10 + HEIGHT]]
make_grey(small)
make_colour(small)
make_jpegs(first)
