import type { Instant } from '../lines/line-times.ts';

/** Fields kept of a journal entry. */
export interface JournalEntry {
  readonly cursor: string;
  readonly at: Instant;
  readonly message: Buffer;
  readonly unit: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Levels by syslog number, in the words of the log store. */
const levels = ['critical', 'critical', 'critical', 'error', 'warn', 'info', 'info', 'debug'];
const longestCursor = 512;
const longestText = 128;

/**
 * Parses one line of `journalctl -o json`; undefined if it is invalid, or has no message. Any
 * program may write fields of its own.
 */
export function journalEntry(line: string): JournalEntry | undefined {
  const fields = parse(line);
  const [cursor, micros] = [text(fields, '__CURSOR'), Number(text(fields, '__REALTIME_TIMESTAMP'))];
  const message = bytes(fields?.['MESSAGE']);
  if (
    cursor === undefined ||
    cursor.length > longestCursor ||
    !Number.isSafeInteger(micros) ||
    micros < 0 ||
    message === undefined
  ) {
    return undefined;
  }
  const ms = Math.floor(micros / 1_000);
  const level = levels[Number(text(fields, 'PRIORITY') ?? -1)];
  const entries = {
    level,
    identifier: text(fields, 'SYSLOG_IDENTIFIER'),
    pid: text(fields, '_PID'),
    unit_full: text(fields, '_SYSTEMD_UNIT'),
  };
  const unit =
    text(fields, '_TRANSPORT') === 'kernel'
      ? 'kernel'
      : unitOf(text(fields, 'UNIT') ?? entries.unit_full);
  const metadata = Object.entries(entries).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (entry[0] !== 'unit_full' || entry[1] !== unit),
  );
  return {
    cursor,
    at: { ms, ns: (micros - ms * 1_000) * 1_000 },
    message,
    unit,
    metadata: Object.fromEntries(metadata),
  };
}

/**
 * Returns the unit's name: instances share that of their template, and transient units one name, so
 * that streams stay few.
 */
export function unitOf(name: string | undefined): string | undefined {
  const [, stem, instance, kind] = /^([^@]+)(@.*)?\.([a-z]+)$/.exec(name ?? '') ?? [];
  if (stem === undefined || kind === undefined) {
    return undefined;
  }
  return kind === 'scope' || kind === 'slice' || stem.startsWith('run-')
    ? kind
    : `${stem}${instance === undefined ? '' : '@'}.${kind}`;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // A line that was cut off, or too long to be kept: the next one is whole again.
    return undefined;
  }
}

function text(fields: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== ''
    ? first.slice(0, name === '__CURSOR' ? longestCursor + 1 : longestText)
    : undefined;
}

/** Converts a field: a non-text comes as byte values; a repeated one as a list. */
function bytes(value: unknown): Buffer | undefined {
  if (typeof value === 'string') {
    return Buffer.from(value);
  }
  if (!Array.isArray(value) || value.length === 0) {
    return undefined;
  }
  return typeof value[0] === 'number' ? Buffer.from(value as number[]) : bytes(value[0]);
}
