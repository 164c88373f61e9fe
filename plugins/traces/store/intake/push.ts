import { asBuffer } from 'svc/query';
import { gunzip } from 'svc/store';

import type { ServerStamp } from '../head/head-dictionary.ts';
import type { Tally } from './decode.ts';
import { errors } from './errors.ts';
import { protoFromJson } from './otlp-json.ts';

export interface PushOptions {
  /** `gzip`, or none. */
  readonly encoding?: string | undefined;
  readonly stamp?: ServerStamp | undefined;
}

export interface PushResult {
  readonly accepted: number;
  readonly rejected: number;
  readonly reasons: readonly string[];
}

export type PushFormat = 'otlp-proto' | 'otlp-json';

const maxReasons = 5;

/** The body as an ExportTraceServiceRequest. */
export function requestOf(
  format: PushFormat,
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Buffer {
  const raw = inflated(body, encoding, maxBytes);
  return asBuffer(format === 'otlp-json' ? protoFromJson(raw) : raw);
}

/** Unpacks the body, bounded whatever size it claims. */
function inflated(body: Uint8Array, encoding: string | undefined, maxBytes: number): Uint8Array {
  switch (encoding) {
    case undefined:
    case '':
    case 'identity':
      if (body.length > maxBytes) {
        throw errors.body_size({ max: maxBytes });
      }
      return body;
    case 'gzip':
      return gunzip(body, { maxBytes });
    default:
      throw errors.encoding({ encoding: encoding.slice(0, 32) });
  }
}

export function resultOf({ accepted, rejected, trimmed, reasons }: Tally): PushResult {
  const causes = [...reasons]
    .slice(0, maxReasons)
    .map(([reason, count]) => `${reason} (${count} refused)`);
  return {
    accepted,
    rejected,
    reasons:
      trimmed === 0
        ? causes
        : [...causes, `${trimmed} spans were stored without the parts beyond the limits of a span`],
  };
}
