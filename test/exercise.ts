import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Figure = Readonly<Record<string, string | number>>;

/** What a bench or drill found: one row per case, and whether that is good enough. */
export interface Outcome {
  readonly ok: boolean;
  readonly figures: readonly Figure[];
  /** What was asked for and missed, or what the reader has to know about the figures. */
  readonly notes?: readonly string[];
}

export type Options = Readonly<Record<string, string | number | boolean>>;

/** A file of test/bench or test/drill. */
export interface Exercise {
  /** One sentence for the list of names. */
  readonly about: string;
  /** Every option with its default, which also says its type. */
  readonly options?: Options;
  run(options: Options): Promise<Outcome>;
}

/** `npm run bench http -- --seconds 5`: runs the named file of `folder` and prints what it found; the exit code says whether it is good. */
export async function exercise(folder: string, kind: string, [name, ...flags]: readonly string[]): Promise<number> {
  const names = namesIn(folder);
  if (name === undefined || !names.includes(name)) {
    console.error(name === undefined ? `Usage: npm run ${kind} <name> [-- --option value …]` : `There is no ${kind} "${name}".`);
    for (const known of names) {
      console.error(`  ${known.padEnd(12)} ${(await load(folder, known)).about}`);
    }
    return name === undefined ? 0 : 2;
  }
  const chosen = await load(folder, name);
  const options = optionsFrom(flags, chosen.options ?? {});
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  const outcome = await chosen.run(options);
  console.log([table(outcome.figures), ...(outcome.notes ?? [])].join('\n'));
  console.log(JSON.stringify({ [kind]: name, node: process.version, options, ...outcome }));
  return outcome.ok ? 0 : 1;
}

function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && file !== 'run.ts' && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
}

const load = async (folder: string, name: string): Promise<Exercise> => (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as Exercise;

/** Defaults overlaid with `--name value` and `--flag`, or the sentence that says what is wrong. */
export function optionsFrom(flags: readonly string[], defaults: Options): Options | string {
  const options: Record<string, string | number | boolean> = { ...defaults };
  const rest = [...flags];
  for (let flag = rest.shift(); flag !== undefined; flag = rest.shift()) {
    const name = flag.slice('--'.length);
    if (!flag.startsWith('--') || !Object.hasOwn(defaults, name)) {
      const known = Object.entries(defaults).map(([key, value]) => `--${key} (${value})`);
      return `There is no option ${flag}. Known: ${known.join(', ') || 'none'}`;
    }
    const type = typeof defaults[name];
    const value = type === 'boolean' ? true : type === 'number' ? Number(rest.shift()) : rest.shift();
    if (value === undefined || Number.isNaN(value)) {
      return `${flag} needs a ${type}.`;
    }
    options[name] = value;
  }
  return options;
}

/** Columns in order of first appearance; a column of numbers stands to the right, with at most four digits behind the point. */
export function table(figures: readonly Figure[]): string {
  const names = [...new Set(figures.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = figures.map((row) => row[name]);
    const cells = [name, ...values.map((value) => (typeof value === 'number' ? String(Math.round(value * 1e4) / 1e4) : (value ?? '')))];
    const width = Math.max(...cells.map((cell) => cell.length));
    return cells.map((cell) => (values.some((value) => typeof value === 'number') ? cell.padStart(width) : cell.padEnd(width)));
  });
  const lines = ['', ...figures].map((_row, line) => columns.map((cells) => cells[line]).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}
