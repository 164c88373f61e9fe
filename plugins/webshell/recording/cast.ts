import type { Size } from '../protocol/frames.ts';

export interface CastOptions extends Size {
  readonly timestamp: number;
  readonly term: string;
  readonly title: string;
}

/** Lines of an asciicast v2 file. Pieces of output need not end with a character; they are joined here. */
export class Cast {
  readonly header: string;
  readonly #decoder = new TextDecoder('utf-8');

  constructor({ cols, rows, timestamp, term, title }: CastOptions) {
    this.header = line({
      version: 2,
      width: cols,
      height: rows,
      timestamp,
      title,
      env: { TERM: term },
    });
  }

  /** Empty as long as all there is belongs to a character that is not complete. */
  output(ms: number, bytes: Uint8Array): string {
    return printed(ms, this.#decoder.decode(bytes, { stream: true }));
  }

  resize(ms: number, { cols, rows }: Size): string {
    return line([seconds(ms), 'r', `${cols}x${rows}`]);
  }

  end(ms: number): string {
    return printed(ms, this.#decoder.decode());
  }
}

const printed = (ms: number, text: string): string =>
  text === '' ? '' : line([seconds(ms), 'o', text]);
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const seconds = (ms: number): number => Math.round(ms) / 1_000;
