import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Rows of a file with comma-separated values; quoted fields may hold commas, and nothing spans lines. */
export const csvRows = (path: string): readonly (readonly string[])[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(csvFields);

/** The same row by row, by the names in the first one, for files that are larger than memory. */
export async function* csvRecords(path: string): AsyncGenerator<Readonly<Record<string, string>>> {
  let names: readonly string[] | undefined;
  for await (const line of createInterface({
    input: createReadStream(path, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (line.trim() === '') {
      continue;
    }
    const fields = csvFields(line);
    if (names === undefined) {
      names = fields;
    } else {
      yield Object.fromEntries(names.map((name, at) => [name, fields[at] ?? '']));
    }
  }
}

export function csvFields(line: string): string[] {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (!text.includes('"')) {
    return text.split(',');
  }
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === '"' && quoted && text[at + 1] === '"') {
      field += '"';
      at += 1;
    } else if (char === '"') {
      quoted = !quoted;
    } else if (char === ',' && !quoted) {
      fields.push(field);
      field = '';
    } else {
      field += char;
    }
  }
  return [...fields, field];
}

/** A number, or null where the field is empty or none. */
export function numberIn(field: string | undefined): number | null {
  const value = field === undefined || field.trim() === '' ? Number.NaN : Number(field);
  return Number.isFinite(value) ? value : null;
}
