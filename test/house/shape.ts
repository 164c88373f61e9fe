import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import project from '../../package.json' with { type: 'json' };
import { projectRoot, type Source, target } from './source.ts';

/** From which line on a function is long, and below which a file is small. */
export const longFunction = 80;
const smallFile = 45;

/** The shape of the sources in figures, each of which may only fall. */
export interface Shape {
  readonly coreLines: number;
  /** Rooms of core that are lent whole to plugins, beside the contract. */
  readonly coreLibraries: readonly string[];
  /** Rooms, and files, that import each other in a circle; types count. */
  readonly roomCircles: readonly string[];
  readonly fileCircles: readonly string[];
  readonly longestFile: number;
  readonly longFunctions: readonly string[];
  /** Small files that one other file imports. */
  readonly smallFiles: readonly string[];
}

const linesOf = ({ text }: Source): number => text.split('\n').length - 1;

/** The names that the product's own modules are imported by, and their files; one with a `*` stands for many. */
const named: ReadonlyMap<string, string> = new Map(
  Object.entries(project.exports).map(([name, file]) => [name.replace('.', 'svc'), file.slice(2)]),
);

function fileNamed(specifier: string): string | undefined {
  const [area] = /(?<=^svc\/contracts\/)[a-z-]+$/.exec(specifier) ?? [];
  return area === undefined
    ? named.get(specifier)
    : named.get('svc/contracts/*')!.replace('*', area);
}

export function shapeOf(sources: readonly Source[]): Shape {
  const known = new Set(sources.map(({ path }) => path));
  const arrows = sources.flatMap(({ path, imports }) =>
    imports
      .map(({ specifier }) => target(path, specifier) ?? fileNamed(specifier))
      .filter((file) => file !== undefined && known.has(file))
      .map((file) => [path, file!] as const),
  );
  const importers = new Map<string, Set<string>>();
  arrows.forEach(([from, to]) => importers.set(to, (importers.get(to) ?? new Set()).add(from)));
  const inCore = sources.filter(({ path }) => path.startsWith('core/'));
  return {
    coreLines: inCore.reduce((sum, source) => sum + linesOf(source), 0),
    coreLibraries: [...named]
      .filter(([name, file]) => name !== 'svc/sdk' && /^core\/[^/]+\/index\.ts$/.test(file))
      .map(([name]) => name),
    roomCircles: circles(arrows.map(([from, to]) => [roomOf(from), roomOf(to)])),
    // The catalogue of commands loads those that ask it what there is.
    fileCircles: circles(arrows.filter(([from]) => !from.startsWith('bin/'))),
    longestFile: Math.max(...sources.map(linesOf)),
    longFunctions: longFunctions(),
    smallFiles: sources
      .filter(
        (source) =>
          !source.path.startsWith('bin/') &&
          linesOf(source) < smallFile &&
          importers.get(source.path)?.size === 1,
      )
      .map(({ path }) => path),
  };
}

const roomOf = (path: string): string =>
  /^(?:plugins\/lib\/[^/]+|(?:core|plugins)\/[^/]+|bin)/.exec(path)![0];

/** Groups that can all be reached from each other, each as one line. */
function circles(arrows: readonly (readonly [from: string, to: string])[]): string[] {
  const next = new Map<string, Set<string>>();
  arrows
    .filter(([from, to]) => from !== to)
    .forEach(([from, to]) => next.set(from, (next.get(from) ?? new Set()).add(to)));
  const reached = new Map<string, ReadonlySet<string>>();
  const reach = (start: string): ReadonlySet<string> => {
    const seen = new Set<string>();
    const waiting = [start];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const to of next.get(at) ?? []) {
        if (!seen.has(to)) {
          seen.add(to);
          waiting.push(to);
        }
      }
    }
    return seen;
  };
  next.forEach((_, start) => reached.set(start, reach(start)));
  const groups = [...next.keys()]
    .filter((start) => reached.get(start)!.has(start))
    .map((start) =>
      [...reached.get(start)!]
        .filter((other) => reached.get(other)?.has(start))
        .sort()
        .join(' '),
    );
  return [...new Set(groups)];
}

/** As the linter counts them, comments and blank lines included. */
function longFunctions(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-shape-'));
  try {
    const config = join(folder, 'oxlint.json');
    const rules = {
      'eslint/max-lines-per-function': [
        'warn',
        { max: longFunction, skipBlankLines: false, skipComments: false },
      ],
    };
    writeFileSync(config, JSON.stringify({ rules, categories: { correctness: 'off' } }));
    const { stdout } = spawnSync(
      join(projectRoot, 'node_modules', '.bin', 'oxlint'),
      ['-c', config, '--format', 'json', 'core', 'plugins', 'bin'],
      {
        cwd: projectRoot,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    const { diagnostics } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      diagnostics: { code: string; filename: string; labels: { span: { line: number } }[] }[];
    };
    return diagnostics
      .filter(({ code }) => code.includes('max-lines-per-function'))
      .map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
