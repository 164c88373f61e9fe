import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';

import project from '../../package.json' with { type: 'json' };
import { projectRoot, type Source, target } from './source.ts';

/** Lines from which on a function is long. */
export const longFunction = 80;
/** Max files of a folder that is not flat. */
const flatFolder = 20;
/** A list by design, a file an area: ADR 0105. */
const listed = 'plugins/lib/contracts';

/** Figures about the shape of the sources, each of which may only fall. */
export interface Shape {
  /** Words of code, without comments, a string counted as one: the same at every print width. */
  readonly coreWords: number;
  /** Areas of core that are libraries of plugins, besides the contract. */
  readonly coreLibraries: readonly string[];
  /** Areas, files and folders with circular imports; types count. */
  readonly roomCircles: readonly string[];
  readonly fileCircles: readonly string[];
  readonly folderCircles: readonly string[];
  /** Number of pairs of areas of which one imports the other. */
  readonly roomArrows: number;
  /** Names of services, events and extension points that are defined a second time. */
  readonly namesTwice: readonly string[];
  readonly flatFolders: readonly string[];
  readonly longestFile: number;
  readonly longFunctions: readonly string[];
  /** Doc comments whose first word is neither the thing nor a verb. */
  readonly headlessComments: readonly string[];
  readonly spreadLiterals: readonly string[];
  readonly errorsWithoutCode: readonly string[];
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
  const between = (placeOf: (path: string) => string) =>
    arrows.map(([from, to]) => [placeOf(from), placeOf(to)] as const);
  const inCore = sources.filter(({ path }) => path.startsWith('core/'));
  return {
    coreWords: inCore.reduce((sum, { text }) => sum + wordsOf(text), 0),
    coreLibraries: [...named]
      .filter(([name, file]) => name !== 'svc/sdk' && /^core\/[^/]+\/index\.ts$/.test(file))
      .map(([name]) => name),
    roomCircles: circles(between(roomOf)),
    fileCircles: circles(arrows),
    folderCircles: circles(between(posix.dirname)),
    roomArrows: new Set(
      between(roomOf)
        .filter(([from, to]) => from !== to)
        .map(([from, to]) => `${from} ${to}`),
    ).size,
    namesTwice: namesTwice(sources),
    flatFolders: flatFolders(sources),
    longestFile: Math.max(...sources.map(linesOf)),
    longFunctions: longFunctions(),
    headlessComments: places(sources, headless),
    spreadLiterals: places(sources, /\.\.\.\{/g),
    errorsWithoutCode: places(sources, /new SvcError\((?:(?!new SvcError|\breason\b)[^;])*?\);/g),
  };
}

/** A word, a number, a sign or a string, outside of comments. */
const word =
  /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|[A-Za-z_$][\w$]*|\d[\w.]*|[^\s\w]/g;
const remark = /\/\*[^]*?\*\/|(^|[^:'"`])\/\/[^\n]*/g;
const wordsOf = (text: string): number => text.replace(remark, '$1').match(word)?.length ?? 0;

/** "Of the …", "What …", "Whether …" send a reader looking for the subject. */
const headless =
  /\/\*\*\s*(?:\n\s*\*\s*)?(?:Of|What|Whether|Where|Who|Whose|How|As|By|Since|In|For|From|With|Without|To|Not|None|One that|Those|That|It|Its|Their|They)\b/g;

const definition = /\bdefine(?:Service|Event|ExtensionPoint)\s*(?:<[^;]*?>)?\(\s*'([^']+)'/g;

function namesTwice(sources: readonly Source[]): string[] {
  const homes = sources.flatMap(({ path, text }) =>
    [...text.matchAll(definition)].map(([, name]) => ({ path, name: name! })),
  );
  return homes
    .filter(({ name }, at) => homes.findIndex((other) => other.name === name) !== at)
    .map(({ path, name }) => `${name} in ${path}`);
}

function flatFolders(sources: readonly Source[]): string[] {
  const sizes = new Map<string, number>();
  for (const { path } of sources) {
    sizes.set(posix.dirname(path), (sizes.get(posix.dirname(path)) ?? 0) + 1);
  }
  return [...sizes]
    .filter(([folder, size]) => size > flatFolder && folder !== listed)
    .map(([folder, size]) => `${folder} with ${size} files`);
}

const places = (sources: readonly Source[], form: RegExp): string[] =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(form)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  );

const roomOf = (path: string): string =>
  /^(?:plugins\/lib\/[^/]+|(?:core|plugins|bin)\/[^/]+(?=\/)|bin)/.exec(path)![0];

/** Returns strongly connected groups, each as one line. */
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

/** Returns long functions as the linter counts them, comments and blank lines included. */
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
