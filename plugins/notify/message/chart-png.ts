import { deflateSync } from 'node:zlib';

import type { Background } from 'svc/contracts/notify';

type Points = NonNullable<Background['hour']>;

const [width, height, edge] = [480, 160, 22];
/** Palette by number: background, measurements, threshold, digits, and grid lines. */
const palette = [0xffffff, 0x1976d2, 0xd32f2f, 0x616161, 0xe0e0e0] as const;
const [paper, ink, bound, text, rule] = [0, 1, 2, 3, 4];

/**
 * Draws the measurements of the last hour, with the threshold, as a small picture for targets that
 * cannot draw.
 */
export function chartPng(points: Points, threshold: number | undefined): Buffer {
  const raster = new Raster();
  const values = [
    ...points.map(([, value]) => value),
    ...(threshold === undefined ? [] : [threshold]),
  ];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [points[0]![0], points.at(-1)![0]];
  const x = (time: number): number =>
    edge + ((time - first) / Math.max(1, last - first)) * (width - 2 * edge);
  const y = (value: number): number =>
    height - edge - ((value - low) / (high - low || 1)) * (height - 2 * edge);
  [low, high].forEach((value) =>
    raster.line([edge, y(value)], [width - edge, y(value)], { colour: rule, thick: 1 }),
  );
  if (threshold !== undefined) {
    raster.line([edge, y(threshold)], [width - edge, y(threshold)], {
      colour: bound,
      thick: 2,
      dash: 8,
    });
  }
  points.slice(1).forEach(([time, value], at) =>
    raster.line([x(points[at]![0]), y(points[at]![1])], [x(time), y(value)], {
      colour: ink,
      thick: 3,
    }),
  );
  raster.digits(edge, 5, shortOf(high));
  raster.digits(edge, height - 15, shortOf(low));
  return png(raster.rows);
}

const shortOf = (value: number): string => String(Number(value.toPrecision(4)));

type Point = readonly [x: number, y: number];

/** Digits of three by five dots, a row to three bits. */
const shapes: Readonly<Record<string, readonly number[]>> = {
  0: [7, 5, 5, 5, 7],
  1: [2, 6, 2, 2, 7],
  2: [7, 1, 7, 4, 7],
  3: [7, 1, 7, 1, 7],
  4: [5, 5, 7, 1, 1],
  5: [7, 4, 7, 1, 7],
  6: [7, 4, 7, 5, 7],
  7: [7, 1, 1, 2, 2],
  8: [7, 5, 7, 5, 7],
  9: [7, 5, 7, 1, 7],
  '.': [0, 0, 0, 0, 2],
  '-': [0, 0, 7, 0, 0],
  '+': [0, 2, 7, 2, 0],
  e: [0, 7, 7, 4, 7],
};
const dot = 2;

class Raster {
  readonly rows = Array.from({ length: height }, () => new Uint8Array(width).fill(paper));

  /** `dash`: so long it is drawn, and so long not. */
  line(
    [fromX, fromY]: Point,
    [toX, toY]: Point,
    {
      colour,
      thick,
      dash,
    }: { readonly colour: number; readonly thick: number; readonly dash?: number },
  ): void {
    const steps = Math.max(1, Math.ceil(Math.hypot(toX - fromX, toY - fromY)));
    for (let step = 0; step <= steps; step += 1) {
      if (dash === undefined || Math.floor(step / dash) % 2 === 0) {
        const share = step / steps;
        this.#square(
          fromX + (toX - fromX) * share - thick / 2,
          fromY + (toY - fromY) * share - thick / 2,
          { size: thick, colour },
        );
      }
    }
  }

  digits(left: number, top: number, said: string): void {
    said.split('').forEach((character, place) => {
      (shapes[character] ?? []).forEach((bits, row) => {
        for (let column = 0; column < 3; column += 1) {
          if ((bits & (4 >> column)) !== 0) {
            this.#square(left + (place * 4 + column) * dot, top + row * dot, {
              size: dot,
              colour: text,
            });
          }
        }
      });
    });
  }

  #square(
    left: number,
    top: number,
    { size, colour }: { readonly size: number; readonly colour: number },
  ): void {
    for (let down = 0; down < size; down += 1) {
      this.rows[Math.round(top) + down]?.fill(colour, Math.round(left), Math.round(left) + size);
    }
  }
}

/** Encodes a picture with one byte per pixel, an index into the palette. */
function png(rows: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, by palette; compressed, filtered and in order as always.
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(
    palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]),
  );
  const pixels = deflateSync(Buffer.concat(rows.flatMap((row) => [Buffer.of(0), row])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, sum]);
}

/** Computes the checksum of ISO 3309. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc >>> 1) ^ ((crc & 1) * 0xedb88320);
    }
  }
  return (crc ^ 0xffffffff) >>> 0;
}
