import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { type DrillStore, openers, openKilled } from './differential-stores.ts';
import {
  type Event,
  eventAt,
  type Question,
  questionFrom,
  type Random,
} from './logs-differential-model.ts';
import { numbers } from './seeded.ts';

const firstMs = 1_795_190_000_000;
const betweenMs = 2_000;
const perPush = 200;
/**
 * Number of questions before more lines are pushed; below, of rounds before the store is reopened.
 */
const perRound = 100;

/**
 * Sends random queries to a log store, while chunks and blocks are cut and merged, and compares
 * with independently computed answers; with `kills`, the process of the store is killed every
 * hundred.
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
  const folder = mkdtempSync(join(tmpdir(), 'svc-logs-differential-'));
  const random = numbers(seed);
  const events: Event[] = [];
  const open = (): Promise<DrillStore> =>
    kills ? openKilled('logs', folder, random) : openers.logs(folder);
  let store = await open();
  let series = 0;
  try {
    for (const number of counted(questions, 'questions')) {
      if (number % perRound === 0) {
        if (number % (perRound * (kills ? 1 : 5)) === 0 && number > 0) {
          await store.end();
          store = await open();
        }
        await push(store, events, random);
        await store.tend(kills && random(3) === 0);
      }
      const question = questionFrom(firstMs, events.at(-1)!.ms, random);
      const wrong = await difference(store, question, events);
      if (wrong !== undefined) {
        return { ok: false, question: number, seed, query: question.query, at: question.at, wrong };
      }
      series += question.answer(events).size;
    }
    return {
      ok: true,
      questions,
      seed,
      kills: kills ? Math.ceil(questions / perRound) : 0,
      lines: events.length,
      'series compared': series,
    };
  } finally {
    await store.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function push(store: DrillStore, events: Event[], random: Random): Promise<void> {
  const fresh = Array.from({ length: perPush }, (_, at) =>
    eventAt(firstMs + (events.length + at) * betweenMs, random),
  );
  const streams = new Map<string, Event[]>();
  for (const event of fresh) {
    const key = `${event.app} ${event.format}`;
    streams.set(key, [...(streams.get(key) ?? []), event]);
  }
  const body = {
    streams: [...streams.values()].map((list) => ({
      stream: { app: list[0]!.app, format: list[0]!.format },
      values: list.map(({ ms, line }) => [`${ms}000000`, line]),
    })),
  };
  await store.push(Buffer.from(JSON.stringify(body)));
  events.push(...fresh);
}

async function difference(
  store: DrillStore,
  question: Question,
  events: readonly Event[],
): Promise<string | undefined> {
  const got = await store.ask({ query: question.query, time: question.at });
  const wanted = question.answer(events);
  const keys = new Set([...got.keys(), ...wanted.keys()]);
  const off = [...keys].find((key) => !close(got.get(key), wanted.get(key)));
  return off === undefined
    ? undefined
    : `{${off}} is ${got.get(off)} instead of ${wanted.get(off)}`;
}

const close = (a: number | undefined, b: number | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
