import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { numbers } from './seeded.ts';
import { bodyOf } from '../plugins/traces/bodies.ts';
import { type DrillStore, openers, openKilled } from './differential-stores.ts';
import { questionFrom, type Random, type Sketch, traceFrom } from './traces-differential-model.ts';
import { tagQuestionFrom } from './traces-tags-model.ts';

const tracesPerPush = 40;
const perRound = 100;

/**
 * Sends random queries to a trace store, a quarter of them by or for tags, while blocks are cut and
 * merged and some spans are duplicates, and compares with independently computed answers; with
 * `kills`, the process of the store is killed every hundred.
 */
export async function run({
  questions = 10_000,
  seed = 1,
  kills = false,
}: {
  readonly questions?: number;
  readonly seed?: number;
  readonly kills?: boolean;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-traces-differential-'));
  const random = numbers(seed);
  const spans: Sketch[] = [];
  const open = (): Promise<DrillStore> =>
    kills ? openKilled('traces', folder, random) : openers.traces(folder);
  let store = await open();
  let compared = 0;
  try {
    for (const number of counted(questions, 'questions')) {
      if (number % perRound === 0) {
        if (number % (perRound * (kills ? 1 : 5)) === 0 && number > 0) {
          await store.end();
          store = await open();
        }
        await push(store, spans, random);
        await store.tend(random(3) === 0);
      }
      const { answer, ...question } =
        random(4) === 0 ? tagQuestionFrom(random) : questionFrom(random);
      const wanted = answer(spans);
      const got = await store.ask(question);
      const off = [...new Set([...wanted.keys(), ...got.keys()])].find(
        (key) => !close(wanted.get(key), got.get(key)),
      );
      if (off !== undefined) {
        return {
          ok: false,
          question: number,
          seed,
          asked: JSON.stringify(question),
          wrong: `${off} is ${got.get(off)} instead of ${wanted.get(off)}`,
        };
      }
      compared += wanted.size;
    }
    return {
      ok: true,
      questions,
      seed,
      kills: kills ? Math.ceil(questions / perRound) : 0,
      spans: spans.length,
      'values compared': compared,
    };
  } finally {
    await store.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Pushes spans, sometimes repeating a push like a sender that got no answer. */
async function push(store: DrillStore, spans: Sketch[], random: Random): Promise<void> {
  const fresh = Array.from({ length: tracesPerPush }, () => traceFrom(random)).flat();
  for (const service of new Set(fresh.map((span) => span.service))) {
    const body = bodyOf(
      { 'service.name': service },
      ...fresh.filter((span) => span.service === service).map(({ sent }) => sent),
    );
    for (let times = random(4) === 0 ? 2 : 1; times > 0; times--) {
      await store.push(body);
    }
  }
  spans.push(...fresh);
}

const close = (a: number | undefined, b: number | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
