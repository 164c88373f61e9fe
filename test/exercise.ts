import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { messageOf } from 'svc/sdk';

type Scalar = string | number | boolean | undefined;
export type Row = Readonly<Record<string, Scalar>>;

/**
 * Result of a bench or drill: figures by name, and rows of them for several cases. `ok: false` and
 * throwing fail the command.
 */
export interface Outcome {
  readonly ok?: boolean;
  readonly [name: string]: Scalar | readonly Row[];
}

/** A file of test/bench or test/drill that `npm run` starts by its name; it takes its options apart in its parameter list. */
export interface Exercise {
  run(options: Row): Promise<Outcome>;
}

/** `npm run bench http -- --seconds 5`: runs the named file of `folder`, prints what it found, answers with the exit code. */
export async function exercise(
  folder: string,
  kind: string,
  [name, ...flags]: readonly string[],
): Promise<number> {
  const names = namesIn(folder);
  if (name === undefined || !names.includes(name)) {
    console.error(
      [
        name === undefined
          ? `Usage: npm run ${kind} <name> [-- --option value …]`
          : `There is no ${kind} "${name}".`,
        ...names,
      ].join('\n  '),
    );
    return name === undefined ? 0 : 2;
  }
  const options = optionsFrom(flags);
  const known = optionNames(readFileSync(join(folder, `${name}.ts`), 'utf8'));
  const unknown = Object.keys(options).filter((option) => !known.has(option));
  // Asked before it begins: whoever is refused has no servers left running.
  if (unknown.length > 0) {
    console.error(
      `${kind} ${name} has no option ${unknown.map((option) => `--${option}`).join(', ')}.`,
    );
    return 2;
  }
  const { run } = (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as Exercise;
  try {
    const outcome = await run(options);
    console.log(
      `${report(outcome)}\n${JSON.stringify({ [kind]: name, node: process.version, ...options, ...outcome })}`,
    );
    return outcome.ok === false ? 1 : 0;
  } catch (error) {
    console.error(`${kind} ${name} failed: ${messageOf(error)}`);
    return 1;
  }
}

/**
 * Returns files that export `run`; the files next to them belong to them. Read, not imported: some
 * do their work when loaded.
 */
function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter(
      (file) =>
        file.endsWith('.ts') &&
        /^export (?:async function|const) run\b/m.test(readFileSync(join(folder, file), 'utf8')),
    )
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
}

/** `--name value` pairs; a number where it reads like one, true where no value follows. */
function optionsFrom(flags: readonly string[]): Row {
  const options: Record<string, Scalar> = {};
  for (const [i, flag] of flags.entries()) {
    if (flag.startsWith('--')) {
      const value = flags[i + 1]?.startsWith('--') === false ? flags[i + 1]! : undefined;
      options[flag.slice('--'.length)] =
        value === undefined ? true : /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
    }
  }
  return options;
}

/**
 * Returns the options in the parameter list of `run`, so that a misspelt one does not pass
 * silently.
 */
function optionNames(source: string): ReadonlySet<string> {
  const [, list = ''] =
    /^export (?:async function|const) run\b[^{(]*\(\{([^}]*)\}/m.exec(source) ?? [];
  return new Set(Array.from(list.matchAll(/(?:^|,)\s*'?([\w-]+)/g), ([, option]) => option!));
}

/** Figures one a line, then each list of cases as a table. */
export function report(outcome: Outcome): string {
  const figures = Object.entries(outcome).filter(
    (entry): entry is [string, Scalar] => !Array.isArray(entry[1]),
  );
  const cases = Object.values(outcome).filter((value): value is readonly Row[] =>
    Array.isArray(value),
  );
  return [figures.map(([figure, value]) => ({ figure, value })), ...cases]
    .filter((rows) => rows.length > 0)
    .map(table)
    .join('\n\n');
}

/** Columns in order of first appearance; a column of numbers stands to the right, with at most four digits behind the point. */
function table(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name]);
    const cells = [
      name,
      ...values.map((value) =>
        typeof value === 'number' ? String(Math.round(value * 1e4) / 1e4) : String(value ?? ''),
      ),
    ];
    const width = Math.max(...cells.map((cell) => cell.length));
    return cells.map((cell) =>
      values.every((value) => typeof value === 'number' || value === undefined)
        ? cell.padStart(width)
        : cell.padEnd(width),
    );
  });
  const lines = ['', ...rows].map((_row, line) => columns.map((cells) => cells[line]).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}
