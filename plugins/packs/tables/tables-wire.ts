import type { WireError } from '../wire/wire.ts';

const tablesMethods = ['all', 'run', 'batch'] as const;
type TablesMethod = (typeof tablesMethods)[number];

/** Returns whether a method is one of tables that packs may call. */
export const isTablesMethod = (method: string): method is TablesMethod =>
  (tablesMethods as readonly string[]).includes(method);

/** One at a time: the next is sent once the one before is answered. */
export interface TablesQuestion {
  readonly method: 'open' | TablesMethod;
  readonly input: unknown;
}

export interface TablesAnswer {
  readonly value?: unknown;
  readonly error?: WireError;
}

type Row = Readonly<Record<string, unknown>>;

/** Rows as JSON has them: a blob as its base64, a number that JSON has not by its name. */
export const carriedRows = (rows: readonly unknown[]): readonly Row[] => mapped(rows, carried);

export const arrivedRows = (rows: readonly unknown[]): readonly Row[] => mapped(rows, arrived);

const mapped = (rows: readonly unknown[], each: (value: unknown) => unknown): readonly Row[] =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row as Row).map(([column, value]) => [column, each(value)])),
  );

function carried(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return { base64: Buffer.from(value).toString('base64') };
  }
  return typeof value === 'number' && !Number.isFinite(value) ? { number: String(value) } : value;
}

function arrived(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const { base64, number } = value as { readonly base64?: string; readonly number?: string };
  return base64 === undefined ? Number(number) : new Uint8Array(Buffer.from(base64, 'base64'));
}
