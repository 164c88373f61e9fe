import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Functions of SQLite that Postgres lacks; `functions.sql` makes them. `max` and `min` are there for several arguments. */
export const functions: ReadonlySet<string> = new Set([
  ...['char', 'hex', 'ifnull', 'iif', 'instr', 'json_array', 'json_array_length', 'json_each'],
  ...['json_extract', 'json_group_array', 'json_type', 'json_valid', 'random', 'round', 'total'],
  ...['randomblob', 'substr', 'typeof', 'unixepoch'],
]);

/** Text that makes the functions in one schema, and a mark that changes with it. */
export function functionsIn(schema: string): { readonly text: string; readonly mark: string } {
  const text = readFileSync(new URL('./functions.sql', import.meta.url), 'utf8').replaceAll(
    'svc_schema',
    () => schema,
  );
  return { text, mark: createHash('sha256').update(text).digest('hex') };
}
