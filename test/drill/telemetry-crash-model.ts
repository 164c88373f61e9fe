import assert from 'node:assert/strict';

import { ProtoWriter, snappyEncode } from 'svc/store';

import { bodyOf, spanId, traceId } from '../plugins/traces/bodies.ts';
import type { WholeHouse } from '../whole-house.ts';

export const signals = ['metrics', 'logs', 'traces'] as const;
export type Signal = (typeof signals)[number];

export const samplesPerPush = 5;
export const linesPerPush = 4;
export const spansPerPush = 3;

export interface Parcel {
  readonly path: string;
  readonly type: string;
  readonly encoding?: string;
  readonly body: Uint8Array;
}

/** Each push has a time of its own, by which it is found again. */
const timeOf = (number: number, epoch: number): number => epoch + number * 10;

/** Push `number` of a signal, always the same. */
export function parcelOf(signal: Signal, number: number, epoch: number): Parcel {
  const time = timeOf(number, epoch);
  switch (signal) {
    case 'metrics': {
      const out = new ProtoWriter();
      for (let host = 0; host < samplesPerPush; host++) {
        out.message(1, (series) => {
          for (const [name, value] of [
            ['__name__', 'drill'],
            ['host', String(host)],
            // Senders overtake each other, and a series takes no older sample than its out-of-order window allows.
            ['lane', String(number % 7)],
          ] as const) {
            series.message(1, (label) => label.string(1, name).string(2, value));
          }
          series.message(2, (sample) => sample.double(1, number).int64(2, time));
        });
      }
      return {
        path: '/api/v1/write',
        type: 'application/x-protobuf',
        encoding: 'snappy',
        body: snappyEncode(out.finish()),
      };
    }
    case 'logs': {
      const values = Array.from({ length: linesPerPush }, (_, line) => [
        `${time}00000${line}`,
        `push ${number} line ${line} ${'x'.repeat(number % 90)}`,
      ]);
      const streams = [{ stream: { app: 'drill', lane: String(number % 3) }, values }];
      return {
        path: '/loki/api/v1/push',
        type: 'application/json',
        body: Buffer.from(JSON.stringify({ streams })),
      };
    }
    case 'traces': {
      const id = traceId(0xd1 * 2 ** 32 + number);
      const spans = Array.from({ length: spansPerPush }, (_, span) => ({
        trace: id,
        id: spanId(number * 16 + span + 1),
        name: 'drill',
        startMs: time,
        attributes: { number },
      }));
      return {
        path: '/v1/traces',
        type: 'application/x-protobuf',
        body: bodyOf({ 'service.name': 'drill' }, ...spans),
      };
    }
  }
}

interface Window {
  readonly from: number;
  readonly to: number;
  readonly epoch: number;
}

/** Pushes of that window that the query API knows; throws when one is there in part or more than once. */
export async function readBack(
  house: WholeHouse,
  signal: Signal,
  { from, to, epoch }: Window,
): Promise<ReadonlySet<number>> {
  const found = new Map<number, number>();
  const parts = { metrics: samplesPerPush, logs: linesPerPush, traces: spansPerPush }[signal];
  const add = (number: number): void => void found.set(number, (found.get(number) ?? 0) + 1);
  // As many as one answer may hold.
  const atOnce = signal === 'traces' ? 500 : 1_000;
  for (let first = from; first < to; first += atOnce) {
    const last = Math.min(to, first + atOnce) - 1;
    await readers[signal](
      house,
      { first, last, start: timeOf(first, epoch), end: timeOf(last, epoch) },
      add,
    );
  }
  for (const [number, count] of found) {
    assert.equal(
      count,
      parts,
      `${signal}: ${count} of the ${parts} parts of push ${number} are there`,
    );
  }
  return new Set(found.keys());
}

/** Pushes from `first` to `last`, both included, and their times. */
interface Part {
  readonly first: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
}

const readers: Readonly<
  Record<Signal, (house: WholeHouse, part: Part, add: (number: number) => void) => Promise<void>>
> = {
  async metrics(house, { start, end }, add) {
    // A window does not hold its own beginning.
    const query = `drill[${end - start + 1}ms]`;
    const { data } = await asked<{ data: { result: { values: [number, string][] }[] } }>(
      house,
      '/prometheus/api/v1/query',
      {
        query,
        time: String(end / 1_000),
      },
    );
    data.result.forEach(({ values }) => values.forEach(([, value]) => add(Number(value))));
  },
  async logs(house, { start, end }, add) {
    const window = {
      start: `${start}000000`,
      end: `${end + 1}000000`,
      limit: '5000',
      direction: 'forward',
    };
    const { data } = await asked<{ data: { result: { values: [string, string][] }[] } }>(
      house,
      '/loki/api/v1/query_range',
      {
        query: '{app="drill"}',
        ...window,
      },
    );
    data.result.forEach(({ values }) =>
      values.forEach(([, line]) => add(Number(line.split(' ')[1]))),
    );
  },
  async traces(house, { first, last, start, end }, add) {
    const { traces } = await asked<{ traces: { spanSets: { spans: FoundSpan[] }[] }[] }>(
      house,
      '/tempo/api/search',
      {
        q: `{ resource.service.name = "drill" && span.number >= ${first} && span.number <= ${last} }`,
        start: String(Math.floor(start / 1_000)),
        end: String(Math.ceil(end / 1_000) + 1),
        limit: String(last - first + 1),
        spss: '10',
      },
    );
    traces.forEach(({ spanSets }) =>
      spanSets.forEach(({ spans }) =>
        spans.forEach(({ attributes }) =>
          add(Number(attributes.find(({ key }) => key === 'number')!.value.intValue)),
        ),
      ),
    );
  },
};

interface FoundSpan {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly intValue: string };
  }[];
}

async function asked<T>(
  house: WholeHouse,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<T> {
  const answer = await house.fetch(`${path}?${new URLSearchParams(parameters).toString()}`);
  const text = await answer.text();
  assert.equal(
    answer.status,
    200,
    `${path}: ${text.slice(0, 500)}${answer.status === 503 ? await whyNotServing(house) : ''}`,
  );
  return JSON.parse(text) as T;
}

/** Stage and cause of each plugin that is not active: a 503 alone does not tell what a kill has broken. */
async function whyNotServing(house: WholeHouse): Promise<string> {
  const { items } = (await (await house.fetch('/api/v1/plugins')).json()) as {
    items: { id: string; state: string }[];
  };
  return `\n${JSON.stringify(items.filter(({ state }) => state !== 'active'))}`;
}
