import { png } from './png.ts';

/** Values with their times in milliseconds; one that is no number is a gap. */
export type Line = readonly (readonly [time: number, value: number])[];

export interface Chart {
  /** The first five are drawn, each in a colour of its own. */
  readonly lines: readonly Line[];
  /** Drawn across, such as a threshold. */
  readonly bound?: number | undefined;
}

const [width, height, edge] = [480, 160, 22];
/** Palette by number: background, first line, bound, digits, grid lines, and further lines. */
const palette = [
  0xffffff, 0x1976d2, 0xd32f2f, 0x616161, 0xe0e0e0, 0x388e3c, 0xf57c00, 0x7b1fa2, 0x00838f,
] as const;
const [paper, bound, text, rule] = [0, 2, 3, 4];
const inks = [1, 5, 6, 7, 8] as const;

/** Draws lines over time as a small PNG for places that cannot draw; undefined if they have no values. */
export function chartPicture({ lines, bound: across }: Chart): Buffer | undefined {
  const drawn = lines.slice(0, inks.length);
  const [earliest, latest] = ends(drawn.flatMap((line) => line.map(([time]) => time)));
  const [low, high] = ends([
    ...drawn.flatMap((line) => line.map(([, value]) => value)),
    ...(across === undefined ? [] : [across]),
  ]);
  if (earliest > latest || low > high) {
    return undefined;
  }
  const x = (time: number): number =>
    edge + ((time - earliest) / Math.max(1, latest - earliest)) * (width - 2 * edge);
  const y = (value: number): number =>
    height - edge - ((value - low) / (high - low || 1)) * (height - 2 * edge);
  const raster = new Raster();
  [low, high].forEach((value) =>
    raster.line([edge, y(value)], [width - edge, y(value)], { colour: rule, thick: 1 }),
  );
  if (across !== undefined) {
    raster.line([edge, y(across)], [width - edge, y(across)], {
      colour: bound,
      thick: 2,
      dash: 8,
    });
  }
  drawn.forEach((line, number) =>
    line.slice(1).forEach(([time, value], at) => {
      const [before, from] = line[at]!;
      if (Number.isFinite(from) && Number.isFinite(value)) {
        raster.line([x(before), y(from)], [x(time), y(value)], { colour: inks[number]!, thick: 3 });
      }
    }),
  );
  raster.digits(edge, 5, shortOf(high));
  raster.digits(edge, height - 15, shortOf(low));
  return png(raster.rows, palette);
}

/** The least and the greatest of the numbers; the wrong way round if there are none. */
const ends = (numbers: readonly number[]): readonly [least: number, greatest: number] =>
  numbers.reduce<readonly [number, number]>(
    ([least, greatest], number) =>
      Number.isFinite(number)
        ? [Math.min(least, number), Math.max(greatest, number)]
        : [least, greatest],
    [Infinity, -Infinity],
  );

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
