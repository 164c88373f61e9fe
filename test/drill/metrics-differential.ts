import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { ProtoWriter, snappyEncode } from 'svc/store';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { numbers } from './seeded.ts';
import { findPeer } from '../peers.ts';
import { freePort } from '../plugins/ingest/nginx.ts';
import { type DrillStore, openers, openKilled } from './differential-stores.ts';
import {
  keyOf,
  questionFrom,
  type Random,
  samplesAt,
  seriesOf,
  stepMs,
} from './metrics-differential-model.ts';

const perRound = 100;
/** Hours of samples that come between two rounds: heads are cut, blocks are merged and thinned. */
const stepsPerRound = 120;
const firstMs = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 5 * 86_400_000;

/** Random questions to our store and to a real Prometheus that was sent the same samples; with `kills`, the process of ours is killed every hundred. */
export async function run({
  questions = 10_000,
  seed = 1,
  kills = false,
}: {
  readonly questions?: number;
  readonly seed?: number;
  readonly kills?: boolean;
} = {}): Promise<Outcome> {
  const program = findPeer('prometheus');
  if (program === undefined) {
    return { ok: false, why: 'prometheus is not installed (Debian: apt-get install prometheus)' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-metrics-differential-'));
  const random = numbers(seed);
  const peer = await startPrometheus(program, join(folder, 'theirs'));
  const ours = join(folder, 'ours');
  const open = (): Promise<DrillStore> =>
    kills ? openKilled('metrics', ours, random) : openers.metrics(ours);
  let store = await open();
  const values = new Map<string, number>();
  const wrong: string[] = [];
  let step = 0;
  let compared = 0;
  try {
    for (const number of counted(questions, 'questions')) {
      if (number % perRound === 0) {
        if (number % (perRound * (kills ? 1 : 5)) === 0 && number > 0) {
          await store.end();
          store = await open();
        }
        const upTo = Math.min(
          step + stepsPerRound,
          Math.floor((Date.now() - firstMs) / stepMs) - 1,
        );
        await push(store, peer.url, step, upTo, values, random);
        await store.tend(false);
        step = upTo;
      }
      const at = firstMs + random(Math.max(1, step * stepMs)) + 137;
      const query = questionFrom(random);
      const [ours, theirs] = await Promise.all([
        store.ask({ query, time: at }),
        theirAnswer(peer.url, query, at),
      ]);
      const off = [...new Set([...ours.keys(), ...theirs.keys()])].find(
        (key) => !close(ours.get(key), theirs.get(key)),
      );
      compared += theirs.size;
      if (off !== undefined) {
        wrong.push(`${query} at ${at}: ${off} is ${ours.get(off)}, theirs ${theirs.get(off)}`);
      }
    }
    const stats = {
      ok: wrong.length === 0,
      questions,
      seed,
      kills: kills ? Math.ceil(questions / perRound) : 0,
      series: seriesOf.length,
      steps: step,
      'values compared': compared,
      different: wrong.length,
    };
    return { ...stats, ...(wrong.length > 0 && { first: wrong.slice(0, 10).join('\n') }) };
  } finally {
    await store.end();
    await peer.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function push(
  store: DrillStore,
  url: string,
  from: number,
  to: number,
  values: Map<string, number>,
  random: Random,
): Promise<void> {
  const request = new ProtoWriter();
  const bySeries = new Map<number, [number, number][]>();
  for (let step = from; step < to; step++) {
    for (const [series, value] of samplesAt(step, values, random)) {
      bySeries.set(series, [...(bySeries.get(series) ?? []), [firstMs + step * stepMs, value]]);
    }
  }
  for (const [series, samples] of bySeries) {
    request.message(1, (message) => {
      for (const [name, value] of seriesOf[series]!) {
        message.message(1, (label) => label.string(1, name).string(2, value));
      }
      samples.forEach(([ms, value]) =>
        message.message(2, (sample) => sample.double(1, value).int64(2, ms)),
      );
    });
  }
  const body = snappyEncode(request.finish());
  await store.push(body);
  const answer = await fetch(`${url}/api/v1/write`, {
    method: 'POST',
    body: Uint8Array.from(body),
    headers: {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
    },
  });
  if (!answer.ok) {
    throw new Error(`Prometheus refused the samples: ${answer.status} ${await answer.text()}`);
  }
}

type Answer = ReadonlyMap<string, number>;

async function theirAnswer(url: string, query: string, time: number): Promise<Answer> {
  const answer = await fetch(`${url}/api/v1/query`, {
    method: 'POST',
    body: new URLSearchParams({ query, time: String(time / 1_000) }),
  });
  const body = (await answer.json()) as {
    status: string;
    error?: string;
    data: { result: { metric: Record<string, string>; value: [number, string] }[] };
  };
  if (body.status !== 'success') {
    throw new Error(`Prometheus refused ${query}: ${body.error}`);
  }
  return new Map(
    body.data.result.map(({ metric, value: [, text] }) => [
      keyOf(metric),
      text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text),
    ]),
  );
}

const close = (a: number | undefined, b: number | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  (Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)));

async function startPrometheus(
  program: string,
  folder: string,
): Promise<{ url: string; end(): Promise<unknown> }> {
  const address = `127.0.0.1:${await freePort()}`;
  const config = `${folder}.yml`;
  writeFileSync(config, '{}');
  const options = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${folder}`,
    `--web.listen-address=${address}`,
    '--web.enable-remote-write-receiver',
  ];
  const child = spawn(program, [...options, '--storage.tsdb.retention.time=30d'], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const url = `http://${address}`;
  for (const deadline = Date.now() + 30_000; ; await pause(100)) {
    const ready = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) {
      return { url, end: () => (child.kill('SIGKILL'), ended) };
    }
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error('Prometheus did not become ready in 30 s');
    }
  }
}
