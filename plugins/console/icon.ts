/** The mark of the console as it stands in tabs and bookmarks: `#` is its ground, `o` the line on it. */
const drawn = [
  '..############..',
  '.##############.',
  '################',
  '######o#########',
  '######o#########',
  '######oo########',
  '#####ooo########',
  '#####o#o########',
  '#####o#o########',
  '#ooooo##o##oooo#',
  '########o##o####',
  '########oooo####',
  '########oo######',
  '#########o######',
  '.##############.',
  '..############..',
];

/** Blue, green, red and how opaque, as bitmaps have it. */
const colours: Readonly<Record<string, readonly number[]>> = {
  '.': [0, 0, 0, 0],
  '#': [0xc4, 0x55, 0x1f, 0xff],
  o: [0xff, 0xff, 0xff, 0xff],
};

const size = drawn.length;
const headBytes = 22;
const bitmapHeadBytes = 40;
/**
 * Size of the mask: one bit per pixel, rows padded to whole words; all zero, since the pixels carry
 * their opacity.
 */
const maskBytes = size * 4;

/**
 * Draws the icon as an ICO file, the only type that every browser accepts at its default address.
 */
export function drawIcon(): Uint8Array {
  // Bitmaps begin at the bottom.
  const pixels = Buffer.from(
    drawn.toReversed().flatMap((row) => Array.from(row).flatMap((dot) => colours[dot]!)),
  );
  const head = Buffer.alloc(headBytes + bitmapHeadBytes);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.set([size, size], 6);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(bitmapHeadBytes + pixels.length + maskBytes, 14);
  head.writeUInt32LE(headBytes, 18);
  head.writeUInt32LE(bitmapHeadBytes, 22);
  head.writeInt32LE(size, 26);
  // The pixels and the mask below them count as one height.
  head.writeInt32LE(2 * size, 30);
  head.writeUInt16LE(1, 34);
  head.writeUInt16LE(32, 36);
  return Buffer.concat([head, pixels, Buffer.alloc(maskBytes)]);
}
