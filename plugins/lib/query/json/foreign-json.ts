import type { SvcError } from 'svc/sdk';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Parser of another server's answers; `what` names a part in the error that refuses it. */
export interface ForeignJson {
  parsed(body: Uint8Array): JsonRecord;
  record(value: unknown, what: string): JsonRecord;
  list(value: unknown, what: string): readonly unknown[];
  text(value: unknown, what: string): string;
  number(value: unknown, what: string): number;
}

/**
 * Creates a parser; `strange` makes the error: who answered, what was wrong, and which setting to
 * check.
 */
export function foreignJson(strange: (what: string) => SvcError): ForeignJson {
  const known = <T>(fits: boolean, value: unknown, problem: string): T => {
    if (!fits) {
      throw strange(problem);
    }
    return value as T;
  };
  const json: ForeignJson = {
    parsed({ buffer, byteOffset, byteLength }) {
      let value: unknown;
      try {
        value = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
      } catch {
        throw strange('the answer is not JSON');
      }
      return json.record(value, 'the answer');
    },
    record: (value, what) =>
      known(
        typeof value === 'object' && value !== null && !Array.isArray(value),
        value,
        `${what} is not an object`,
      ),
    list: (value, what) => known(Array.isArray(value), value, `${what} is not a list`),
    text: (value, what) => known(typeof value === 'string', value, `${what} is not a text`),
    number: (value, what) => known(typeof value === 'number', value, `${what} is not a number`),
  };
  return json;
}
