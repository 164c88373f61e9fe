import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { verifyBackup } from '../../bin/upkeep/backup/backup.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { flipBit } from './flip-bit.ts';
import { type Answers, answersOf, backupOf, environmentOf, furnish } from './folder-flips-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * What became of a start after one bit had changed. `right`: all answers are as before. `told`: some
 * are not, or there is no start, and a sentence names the file. `lie`: others, and no word of it.
 * `dead`: no start, or a stack trace, and no file named.
 */
type Verdict = 'right' | 'told' | 'lie' | 'dead';

interface Place {
  readonly file: string;
  readonly at: number;
}

export interface FolderFlips {
  /** Max flips. Fewer than there are kinds of files: the kinds that are left out differ with the seed. */
  readonly flips?: number;
  readonly seed?: number;
  /** Pattern of the kinds of files. */
  readonly only?: string;
  /** Copies that are tried at the same time. */
  readonly lanes?: number;
}

/**
 * Flips one bit after another in every file of the data folder but those of the telemetry stores,
 * which `bit-flips` has, and starts the product on each copy: it answers as before, or names the
 * file that is damaged. The agent of this machine runs where its own folder is damaged.
 */
export async function run({
  flips = 200,
  seed = 5,
  only = '',
  lanes = 2,
}: FolderFlips = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-folder-flips-'));
  try {
    const whole = join(folder, 'whole');
    await furnish(whole);
    const places = placesOf(whole, { flips, seed, only });
    const stand: Stand = { folder, whole, expected: new Map() };
    for (const agent of new Set(places.map(needsAgent))) {
      stand.expected.set(agent, await steadyAnswers(stand, agent));
    }
    const verdicts = new Map<Place, { readonly verdict: Verdict; readonly why: string }>();
    const left = [...places];
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let place = left.shift(); place; place = left.shift()) {
          const judgement = await judged(stand, join(folder, `lane-${lane}`), place);
          verdicts.set(place, judgement);
          if (judgement.verdict === 'lie' || judgement.verdict === 'dead') {
            say(`${place.file} at ${place.at}: ${judgement.verdict}, ${judgement.why}`);
          }
        }
      }),
    );
    const rows = rowsOf(places.map((place) => ({ place, ...verdicts.get(place)! })));
    rows.forEach((row) => say(JSON.stringify(row)));
    const sum = (key: 'flips' | 'lies' | 'dead'): number =>
      rows.reduce((all, row) => all + Number(row[key]), 0);
    return {
      ok: rows.every(({ ok }) => ok === true),
      flips: sum('flips'),
      lies: sum('lies'),
      dead: sum('dead'),
      files: rows,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Judged {
  readonly place: Place;
  readonly verdict: Verdict;
  readonly why: string;
}

/** One row for each kind of files. */
function rowsOf(judgements: readonly Judged[]): Row[] {
  const kinds = [...new Set(judgements.map(({ place }) => kindOf(place.file)))];
  return kinds.map((kind) => {
    const found = judgements.filter(({ place }) => kindOf(place.file) === kind);
    const count = (verdict: Verdict): number =>
      found.filter((one) => one.verdict === verdict).length;
    const wrong = found.filter(({ verdict }) => verdict === 'lie' || verdict === 'dead');
    return {
      file: kind,
      ok: wrong.length === 0,
      flips: found.length,
      right: count('right'),
      told: count('told'),
      lies: count('lie'),
      dead: count('dead'),
      ...(wrong.length > 0 && {
        examples: wrong
          .slice(0, 3)
          .map(({ place, verdict, why }) => `${place.file} at ${place.at}: ${verdict}, ${why}`)
          .join('; '),
      }),
    };
  });
}

interface Stand {
  readonly folder: string;
  readonly whole: string;
  /** What a whole folder answers, with the agent of this machine and without. */
  readonly expected: Map<boolean, Answers>;
}

const needsAgent = ({ file }: Place): boolean => file.startsWith('local-edge/');

/** What two starts on whole copies answer alike: times and counts of one run are no part of it. */
async function steadyAnswers({ folder, whole }: Stand, agent: boolean): Promise<Answers> {
  const [first, second] = await Promise.all(
    ['one', 'other'].map(async (name) => await answersOnCopy(whole, join(folder, name), agent)),
  );
  return new Map([...first!].filter(([path, value]) => second!.get(path) === value));
}

async function answersOnCopy(whole: string, copy: string, agent: boolean): Promise<Answers> {
  cpSync(whole, copy, { recursive: true, preserveTimestamps: true });
  const house = await startWholeHouse({ dataDir: copy, environment: environmentOf(agent) });
  try {
    return await answersOf(house, agent ? { isExplained: () => false } : undefined);
  } finally {
    await house.end();
    rmSync(copy, { recursive: true });
  }
}

async function judged(
  { whole, expected }: Stand,
  copy: string,
  place: Place,
): Promise<{ readonly verdict: Verdict; readonly why: string }> {
  const { file, at } = place;
  const agent = needsAgent(place);
  cpSync(whole, copy, { recursive: true, preserveTimestamps: true });
  flipBit(join(copy, file), at);
  let house: WholeHouse | undefined;
  try {
    if (file.startsWith('backups/')) {
      return await judgedBackup(copy, file);
    }
    const started = await startWholeHouse({ dataDir: copy, environment: environmentOf(agent) });
    house = started;
    const isExplained = (): boolean => names(started.output(), file);
    const answers = await answersOf(house, agent ? { isExplained } : undefined);
    const other = [...expected.get(agent)!].filter(([path, value]) => answers.get(path) !== value);
    const said = house.output() + [...answers.values()].join('\n');
    if (hasStack(house.output())) {
      return { verdict: 'dead', why: `a stack trace: ${stackOf(house.output())}` };
    }
    const isNamed = names(said, file);
    return {
      verdict: other.length === 0 ? (isNamed ? 'told' : 'right') : isNamed ? 'told' : 'lie',
      why: `${other
        .slice(0, 3)
        .map(([path, value]) => `${path} ${value} → ${answers.get(path)}`.slice(0, 200))
        .join(', ')}; output: ${house.output().slice(-600)}`,
    };
  } catch (error) {
    const said = String(error instanceof Error ? error.message : error);
    const isNamed = /(?:^|\n|: )svc: /.test(said) && names(said, file) && !hasStack(said);
    return { verdict: isNamed ? 'told' : 'dead', why: said.slice(-400) };
  } finally {
    await house?.end();
    rmSync(copy, { recursive: true });
  }
}

/** A backup is not read by a start; verifying and restoring are what it is for. */
async function judgedBackup(
  copy: string,
  file: string,
): Promise<{ readonly verdict: Verdict; readonly why: string }> {
  const dir = backupOf(copy);
  try {
    await verifyBackup(dir, { root, version: '0.1.0' });
    return { verdict: 'lie', why: 'the backup is said to be whole' };
  } catch (error) {
    const said = String(error instanceof Error ? error.message : error);
    return { verdict: names(said, file) ? 'told' : 'dead', why: said };
  }
}

/** Sentences about a section that name it otherwise than by its file. */
const sayings: readonly (readonly [file: RegExp, said: string])[] = [
  [/^packs\/([^/]+)\//, 'The files of $1 were modified after it was installed'],
  [/^plugins\/audit\//, 'forged or altered'],
];

/** A name without a dot may be a word of any sentence; a backup is one thing, whichever of its files is damaged. */
const names = (said: string, file: string): boolean =>
  [file, basename(file), /^backups\/[^/]+/.exec(file)?.[0] ?? file].some(
    (name) => /[./]/.test(name) && said.includes(name),
  ) ||
  sayings.some(([pattern, saying]) => {
    const found = pattern.exec(file);
    return found !== null && said.includes(saying.replace('$1', found[1] ?? ''));
  });

const hasStack = (text: string): boolean => /\n\s+at .*:\d+:\d+/.test(text);
const stackOf = (text: string): string => /.*\n\s+at .*:\d+:\d+/.exec(text)![0].slice(0, 300);

/** Files whose bytes are read by nobody, by the next start alone, or belong to another drill. */
const isRead = (name: string): boolean =>
  !/^(?:ballast|start-reserve|svc\.lock|probe)$/.test(name) &&
  !/^plugins\/(?:metricsdb|logs|traces)\//.test(name) &&
  !name.endsWith('-shm');

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => {
      const path = join(folder, name);
      return existsSync(path) && statSync(path).isFile() && statSync(path).size > 0;
    })
    .filter(isRead);

/** Names of one kind: numbers and hashes in them do not matter. */
const kindOf = (file: string): string =>
  file
    .replace(/[0-9a-f]{16,}/g, '#')
    .replace(/\d+/g, '#')
    .replace(/^backups\/[^/]+/, 'backups/*');

function placesOf(
  whole: string,
  { flips, seed, only }: Required<Pick<FolderFlips, 'flips' | 'seed' | 'only'>>,
): Place[] {
  const files = filesOf(whole).filter((name) => new RegExp(only).test(kindOf(name)));
  const all = [...new Set(files.map(kindOf))].toSorted();
  const step = Math.max(1, all.length / flips);
  const kinds = Array.from(
    { length: Math.min(flips, all.length) },
    (_, i) => all[Math.floor(i * step + (seed % step))]!,
  );
  return kinds.flatMap((kind) =>
    placesIn(
      whole,
      files.filter((name) => kindOf(name) === kind),
      Math.max(1, Math.floor(flips / kinds.length)),
      seed,
    ),
  );
}

function placesIn(folder: string, files: readonly string[], most: number, seed: number): Place[] {
  const sizes = files.map((file) => [file, statSync(join(folder, file)).size] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const stride = Math.max(1, total / most);
  return Array.from({ length: Math.min(most, total) }, (_, i) => {
    let at = Math.floor(i * stride + ((seed * 7_919) % stride));
    for (const [file, size] of sizes) {
      if (at < size) {
        return { file, at };
      }
      at -= size;
    }
    return { file: files[0]!, at: 0 };
  });
}
