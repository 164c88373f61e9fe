import { isUtf8 } from 'node:buffer';

import type { SvcError } from 'svc/sdk';
import { JsonList, parsePushJson } from 'svc/store';

import { Batch } from '../lines/batch.ts';
import { parseNanos } from '../lines/nanos.ts';
import { errors } from './errors.ts';
import { LabelSets } from './label-sets.ts';
import { PushScanner } from './push-scanner.ts';

const streamSets = new LabelSets('streams');
const metadataSets = new LabelSets('metadata');
/** Lists that are read in pieces. */
const lists = ['streams', 'values'];

/**
 * Parses a push body in Loki's JSON: streams as sent, before any additions or checks. The usual
 * shape never becomes an object or a text; anything else is parsed by the runtime, which knows what
 * is wrong with it.
 */
export function readJsonPush(body: Buffer): Batch {
  const batch = batchFor(body);
  if (
    isUtf8(body) &&
    new PushScanner(body, batch, (from, to, beside) =>
      (beside ? metadataSets : streamSets).in(body, from, to),
    ).push()
  ) {
    // Of UTF-8 without halves of pairs.
    batch.isText = true;
    return batch;
  }
  batch.release();
  try {
    return parsed(body);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw errors.push_json({ cause: error.message.slice(0, 200) });
    }
    throw error;
  }
}

const batchFor = (body: Buffer): Batch => new Batch(body.length, Math.max(16, body.length >> 7));

function parsed(body: Buffer): Batch {
  const push = parsePushJson(body, lists);
  const batch = batchFor(body);
  if (!isObject(push)) {
    throw broken('the body', 'an object with "streams"');
  }
  const { streams = [] } = push;
  let index = 0;
  for (const stream of entriesOf(streams, 'streams')) {
    readStream(batch, stream, index);
    index += 1;
  }
  return batch;
}

function readStream(batch: Batch, stream: unknown, index: number): void {
  const where = `streams[${index}]`;
  if (!isObject(stream)) {
    throw broken(where, 'an object with "stream" and "values"');
  }
  const labels = streamSets.of(textsIn(stream['stream'] ?? {}, `${where}.stream`));
  const from = batch.count;
  let i = 0;
  for (const value of entriesOf(stream['values'] ?? [], `${where}.values`)) {
    readValue(batch, value, where, i);
    i += 1;
  }
  batch.part(labels, from);
}

/** `["<nanoseconds>", "line"]`, with an object of metadata as third. */
function readValue(batch: Batch, value: unknown, where: string, i: number): void {
  if (!Array.isArray(value) || typeof value[0] !== 'string' || typeof value[1] !== 'string') {
    throw broken(`${where}.values[${i}]`, 'a pair of texts: nanoseconds since 1970, and the line');
  }
  const at = parseNanos(value[0]);
  if (at === undefined) {
    throw broken(`${where}.values[${i}][0]`, 'nanoseconds since 1970 as a text of digits');
  }
  const meta =
    value[2] === undefined
      ? 0
      : batch.metaOf(metadataSets.of(textsIn(value[2], `${where}.values[${i}][2]`)));
  batch.text(at.ms, at.ns, value[1], meta);
}

function entriesOf(value: unknown, where: string): Iterable<unknown> {
  if (!Array.isArray(value) && !(value instanceof JsonList)) {
    throw broken(where, 'a list');
  }
  return value as Iterable<unknown>;
}

function textsIn(value: unknown, where: string): [string, string][] {
  if (!isObject(value)) {
    throw broken(where, 'an object of texts');
  }
  for (const name of Object.keys(value)) {
    if (typeof value[name] !== 'string') {
      throw broken(`${where}[${JSON.stringify(name.slice(0, 100))}]`, 'a text');
    }
  }
  return Object.entries(value as Record<string, string>);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof JsonList);

const broken = (where: string, expected: string): SvcError =>
  errors.push_shape({ where, expected });
