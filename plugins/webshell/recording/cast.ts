import type { Size } from '../frames.ts';

/** Lines of an asciicast v2 file. Pieces of output need not end with a character; they are joined here. */
export function createCast({ cols, rows, timestamp, term, title }: Size & { readonly timestamp: number; readonly term: string; readonly title: string }) {
  const decoder = new TextDecoder('utf-8');
  const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
  const at = (ms: number): number => Math.round(ms) / 1_000;
  return {
    header: line({ version: 2, width: cols, height: rows, timestamp, title, env: { TERM: term } }),
    /** Empty as long as all there is belongs to a character that is not complete. */
    output(ms: number, bytes: Uint8Array): string {
      const text = decoder.decode(bytes, { stream: true });
      return text === '' ? '' : line([at(ms), 'o', text]);
    },
    resize: (ms: number, size: Size): string => line([at(ms), 'r', `${size.cols}x${size.rows}`]),
    end(ms: number): string {
      const text = decoder.decode();
      return text === '' ? '' : line([at(ms), 'o', text]);
    },
  };
}
