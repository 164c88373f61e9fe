import { createHash } from 'node:crypto';

export const maxKeptBytes = 16 * 1_024 * 1_024;

/** A text as it is kept: its first 16 MiB, with the measures of the whole. */
export interface EvidenceText {
  readonly kept: Uint8Array;
  readonly bytes: number;
  readonly sha256: string;
  readonly truncated: boolean;
}

export function evidenceTextOf(text: string): EvidenceText {
  const whole = Buffer.from(text);
  return {
    kept: whole.subarray(0, maxKeptBytes),
    bytes: whole.length,
    sha256: createHash('sha256').update(whole).digest('hex'),
    truncated: whole.length > maxKeptBytes,
  };
}
