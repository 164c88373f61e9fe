import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Outcome, Row } from '../exercise.ts';
import {
  type Answer,
  type FlippedStore,
  flippedStores,
  type OpenStore,
} from './bit-flips-stores.ts';
import { flipBit } from './flip-bit.ts';

/** Verdict on one flip, by the copy that was not flipped. */
interface Verdict {
  /** Before anybody did anything. `lie`: another answer without a warning. */
  readonly answer: 'right' | 'warned' | 'lie' | 'dead';
  /** Items of the answer that were missing. */
  readonly lost: number;
  /** Whether the check told of damage exactly if there was some. */
  readonly isCheckRight: boolean;
  /** After mending, upkeep and a restart. `back`: all as it was, nothing left to report. */
  readonly mended: 'back' | 'reported' | 'lie' | 'dead';
}

/**
 * Flips one bit after another in every file of each store, catalogue included, and cuts off and
 * deletes segments of the log. Every answer is unchanged or says that something is missing; the
 * check tells of damage exactly if there is some; mending brings back all that is not in the log,
 * and silences nothing else.
 */
export async function run({
  flips = 500,
  seed = 13,
}: { readonly flips?: number; readonly seed?: number } = {}): Promise<Outcome> {
  const stores: Row[] = [];
  for (const store of flippedStores) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-flips-'));
    try {
      stores.push(...(await flipThrough(store, folder, flips / flippedStores.length, seed)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const sum = (key: string): number => stores.reduce((all, row) => all + Number(row[key]), 0);
  return {
    ok: stores.every(({ ok }) => ok === true),
    flips: sum('flips'),
    lies: sum('lies'),
    dead: sum('dead'),
    stores,
  };
}

async function flipThrough(
  store: FlippedStore,
  folder: string,
  flips: number,
  seed: number,
): Promise<Row[]> {
  const whole = join(folder, 'whole');
  await store.fill(whole);
  const expected = await expectedOf(store, whole, join(folder, 'copy'));
  const files = filesOf(whole);
  const kinds = [...new Set(files.map(kindOf))];
  const rows: Row[] = [];
  for (const kind of kinds) {
    const harms = places(
      whole,
      files.filter((name) => kindOf(name) === kind),
      Math.ceil(flips / kinds.length),
      seed,
    ).map(([file, at]): Harm => ({
      where: `${file} at byte ${at}`,
      does: (copy) => flipBit(join(copy, file), at),
    }));
    rows.push(rowOf(store.name, kind, await verdictsOf(store, { folder, expected, kind }, harms)));
  }
  const cuts = files
    .filter((name) => kindOf(name) === 'log')
    .flatMap((name) => cutsOf(whole, name));
  const verdicts = await verdictsOf(store, { folder, expected, kind: 'log' }, cuts);
  return [...rows, rowOf(store.name, 'log, cut off', verdicts)];
}

/** What befalls a copy of a store. */
interface Harm {
  readonly where: string;
  does(copy: string): void;
}

async function verdictsOf(
  store: FlippedStore,
  { folder, ...asked }: Pick<Case, 'expected' | 'kind'> & { readonly folder: string },
  harms: readonly Harm[],
): Promise<(Verdict & { readonly where: string })[]> {
  const [whole, copy] = [join(folder, 'whole'), join(folder, 'copy')];
  const verdicts: (Verdict & { readonly where: string })[] = [];
  for (const { where, does } of harms) {
    cpSync(whole, copy, { recursive: true, preserveTimestamps: true });
    does(copy);
    verdicts.push({ ...(await judged(store, { ...asked, whole, copy })), where });
    rmSync(copy, { recursive: true });
  }
  return verdicts;
}

/** A segment that is deleted, or ends somewhere before its seal. */
function cutsOf(whole: string, file: string): Harm[] {
  const { size } = statSync(join(whole, file));
  const ends = [size >> 1, size - 9];
  return [
    { where: `${file} deleted`, does: (copy) => rmSync(join(copy, file)) },
    ...ends.map((end): Harm => ({
      where: `${file} cut at byte ${end}`,
      does: (copy) => truncateSync(join(copy, file), end),
    })),
  ];
}

async function expectedOf(store: FlippedStore, whole: string, copy: string): Promise<Answer> {
  cpSync(whole, copy, { recursive: true, preserveTimestamps: true });
  const open = await store.open(copy);
  try {
    const expected = await open.ask();
    assert.deepEqual(expected.warnings, [], `${store.name} is whole before the first flip`);
    assert.deepEqual((await open.care('check')).damage, []);
    return expected;
  } finally {
    await open.close();
    rmSync(copy, { recursive: true });
  }
}

interface Case {
  readonly whole: string;
  readonly copy: string;
  readonly expected: Answer;
  readonly kind: string;
}

async function judged(store: FlippedStore, asked: Case): Promise<Verdict> {
  const { whole, copy, expected, kind } = asked;
  let open: OpenStore | undefined;
  let before: Pick<Verdict, 'answer' | 'lost' | 'isCheckRight'> = {
    answer: 'dead',
    lost: expected.items.length,
    isCheckRight: false,
  };
  try {
    open = await store.open(copy);
    const found = await open.ask();
    const isDamaged = differs(whole, copy, 'blocks');
    const { damage, aside } = await open.care('check');
    const isTold = damage.length > 0;
    before = {
      answer: answerOf(found, expected),
      lost: lostOf(found, expected),
      isCheckRight:
        kind === 'log'
          ? isTold === found.warnings.length > 0
          : isTold === isDamaged && (kind !== 'catalogue' || aside.length === 1),
    };
    await open.care('mend');
    await open.tend();
    await open.close();
    open = await store.open(copy);
    const after = await open.ask();
    const { damage: left } = await open.care('check');
    const answer = answerOf(after, expected);
    const isBack = answer === 'right' && after.warnings.length === 0 && left.length === 0;
    return {
      ...before,
      mended:
        answer === 'lie' || (answer === 'warned' && left.length === 0)
          ? 'lie'
          : isBack && !differs(whole, copy, 'blocks')
            ? 'back'
            : 'reported',
    };
  } catch {
    return { ...before, mended: 'dead' };
  } finally {
    await open?.close();
  }
}

const answerOf = ({ text, warnings }: Answer, expected: Answer): 'right' | 'warned' | 'lie' =>
  text === expected.text ? 'right' : warnings.length > 0 ? 'warned' : 'lie';

function lostOf({ items }: Answer, expected: Answer): number {
  const found = new Set(items);
  return expected.items.filter((item) => !found.has(item)).length;
}

/** Thinned blocks that were made again are others by name and by the time of their making. */
const differs = (whole: string, copy: string, folder: string): boolean =>
  readdirSync(join(whole, folder)).some((name) => {
    const file = join(copy, folder, name);
    return existsSync(file)
      ? !readFileSync(file).equals(readFileSync(join(whole, folder, name)))
      : !name.startsWith('thin');
  });

function rowOf(
  store: string,
  file: string,
  verdicts: readonly (Verdict & { readonly where: string })[],
): Row {
  const count = (is: (verdict: Verdict) => boolean): number => verdicts.filter(is).length;
  const wrong = verdicts.filter(
    ({ answer, isCheckRight, mended }) =>
      answer === 'lie' ||
      answer === 'dead' ||
      !isCheckRight ||
      mended === 'lie' ||
      mended === 'dead' ||
      (mended === 'reported' && !file.startsWith('log')) ||
      (file === 'catalogue' && answer !== 'right'),
  );
  return {
    store,
    file,
    ok: wrong.length === 0,
    flips: verdicts.length,
    right: count(({ answer }) => answer === 'right'),
    warned: count(({ answer }) => answer === 'warned'),
    lies: count(({ answer, mended }) => answer === 'lie' || mended === 'lie'),
    dead: count(({ answer, mended }) => answer === 'dead' || mended === 'dead'),
    'most lost': Math.max(0, ...verdicts.map(({ lost }) => lost)),
    'check wrong': count(({ isCheckRight }) => !isCheckRight),
    'brought back': count(({ mended }) => mended === 'back'),
    ...(wrong.length > 0 && {
      examples: wrong
        .slice(0, 3)
        .map(
          ({ where, answer, isCheckRight, mended }) =>
            `${where}: ${answer}, check ${isCheckRight}, ${mended}`,
        )
        .join('; '),
    }),
  };
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );

const kindOf = (file: string): string =>
  file === 'wal.segments'
    ? 'list of segments'
    : file.startsWith('wal')
      ? 'log'
      : file.endsWith('.seal')
        ? 'seal'
        : file.startsWith('catalogue')
          ? 'catalogue'
          : file.includes('thin')
            ? 'thinned block'
            : 'block';

/** Evenly over all bytes of the files, shifted by the seed. */
function places(
  folder: string,
  files: readonly string[],
  most: number,
  seed: number,
): [file: string, at: number][] {
  const sizes = files.map((file) => [file, statSync(join(folder, file)).size] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const stride = Math.max(1, Math.floor(total / most));
  return sizes.flatMap(([file, size]) =>
    Array.from({ length: Math.ceil(size / stride) }, (_, i): [string, number] => [
      file,
      (i * stride + seed) % size,
    ]),
  );
}
