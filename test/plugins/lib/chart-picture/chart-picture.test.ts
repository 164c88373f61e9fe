import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';

import { chartPicture } from 'svc/chart-picture';

/** Number of pixels of each colour of the palette. */
function coloursOf(png: Buffer): ReadonlyMap<number, number> {
  const data = png.indexOf('IDAT');
  const pixels = inflateSync(png.subarray(data + 4, data + 4 + png.readUInt32BE(data - 4)));
  const found = new Map<number, number>();
  pixels.forEach((colour, at) => at % 481 !== 0 && found.set(colour, (found.get(colour) ?? 0) + 1));
  return found;
}

const flat = (value: number) => Array.from({ length: 60 }, (_, at) => [at, value] as const);

test('each line has a colour of its own, up to five', () => {
  const lines = [1, 2, 3, 4, 5, 6].map(flat);
  const colours = coloursOf(chartPicture({ lines })!);
  for (const ink of [1, 5, 6, 7, 8]) {
    assert.ok(colours.get(ink)! > 400, `ink ${ink}`);
  }
});

test('a gap in a line is not drawn across, and without a value there is no picture', () => {
  const gap = flat(1).map(([at, value]) => [at, at > 20 && at < 40 ? Number.NaN : value] as const);
  const [whole, broken] = [flat(1), gap].map((line) =>
    coloursOf(chartPicture({ lines: [line] })!).get(1)!,
  );
  assert.ok(broken! < whole! * 0.75, `${broken} of ${whole}`);
  assert.equal(chartPicture({ lines: [] }), undefined);
  assert.equal(chartPicture({ lines: [[[0, Number.NaN]]] }), undefined);
});
