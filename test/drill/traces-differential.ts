import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { budget } from 'svc/query';

import { openTracesStore, type TracesStore } from '../../plugins/traces/store/store.ts';
import { metrics, parse, search } from '../../plugins/traces/traceql/engine.ts';
import { valueText } from '../../plugins/traces/store/otlp-values.ts';
import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { numbers } from './seeded.ts';
import { bodyOf, startMs } from '../plugins/traces/bodies.ts';
import { quiet } from '../plugins/traces/store-house.ts';
import { type Asked, questionFrom, type Random, type Sketch, traceFrom } from './traces-differential-model.ts';

const tracesPerPush = 40;
const perRound = 100;
const limits = { headSpans: 2_000 };

/** Random questions to a store of traces, while blocks are cut and merged and some spans come twice, beside answers that are worked out without it. */
export async function run({ questions = 10_000, seed = 1 }: { readonly questions?: number; readonly seed?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-traces-differential-'));
  const random = numbers(seed);
  const spans: Sketch[] = [];
  // Moves on, as blocks are named by it.
  let clock = startMs + 3_600_000;
  const now = (): number => clock++;
  const open = (): Promise<TracesStore> => openTracesStore({ folder, log: quiet, now, limits });
  let store = await open();
  let compared = 0;
  try {
    for (const number of counted(questions, 'questions')) {
      if (number % perRound === 0) {
        if (number % (perRound * 5) === 0 && number > 0) {
          await store.close();
          store = await open();
        }
        await push(store, spans, random);
        await store.tend({ now: random(3) === 0 });
      }
      const question = questionFrom(random);
      const wanted = question.answer(spans);
      const got = await answered(store, question);
      const off = [...new Set([...wanted.keys(), ...got.keys()])].find((key) => !close(wanted.get(key), got.get(key)));
      if (off !== undefined) {
        return { ok: false, question: number, seed, query: question.query, wrong: `${off} is ${got.get(off)} instead of ${wanted.get(off)}` };
      }
      compared += wanted.size;
    }
    const { blocks, blockSpans, headSpans } = store.stats();
    return { ok: true, questions, seed, spans: spans.length, stored: blockSpans + headSpans, blocks, 'values compared': compared };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A push now and then is repeated, as a sender does that has not heard of the answer. */
async function push(store: TracesStore, spans: Sketch[], random: Random): Promise<void> {
  const fresh = Array.from({ length: tracesPerPush }, () => traceFrom(random)).flat();
  for (const service of new Set(fresh.map((span) => span.service))) {
    const body = bodyOf({ 'service.name': service }, ...fresh.filter((span) => span.service === service).map(({ sent }) => sent));
    for (let times = random(4) === 0 ? 2 : 1; times > 0; times--) {
      await store.push('otlp-proto', body);
    }
  }
  spans.push(...fresh);
}

const window = { start: startMs - 1_000, end: startMs + 3_600_000 };

async function answered(store: TracesStore, { kind, query }: Asked): Promise<Map<string, number>> {
  const allowance = budget({ timeoutMs: 60_000, now: () => performance.now() });
  if (kind === 'search') {
    const options = { window: { startMs: window.start, endMs: window.end }, limit: 100_000, spansPerSpanset: 1 };
    const { traces } = await store.read(() => search(store.source(), parse(query), options, allowance));
    return new Map(traces.map(({ traceId, spansets }) => [traceId, spansets.reduce((sum, { matched }) => sum + matched, 0)]));
  }
  const options = { start: window.end, end: window.end, step: window.end - window.start };
  const { series } = await store.read(() => metrics(store.source(), parse(query), options, allowance));
  return new Map(
    series.flatMap(({ labels, values }) =>
      Number.isNaN(values[0]!) ? [] : [[labels.flatMap(({ key, value }) => (key === '__name__' ? [] : [valueText(value)])).join(), values[0]!] as const],
    ),
  );
}

const close = (a: number | undefined, b: number | undefined): boolean =>
  a !== undefined && b !== undefined && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
