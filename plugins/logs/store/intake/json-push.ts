import { isUtf8 } from 'node:buffer';

import { isSvcError, type SvcError } from 'svc/sdk';
import { parsePushJson } from 'svc/store';

import { Batch } from '../lines/batch.ts';
import { parseNanos } from '../lines/nanos.ts';
import { errors } from './errors.ts';
import { LabelSets } from './label-sets.ts';
import { PushScanner } from './push-scanner.ts';

const streamSets = new LabelSets('streams');
const metadataSets = new LabelSets('metadata');

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
  return parsed(body);
}

const batchFor = (body: Buffer): Batch => new Batch(body.length, Math.max(16, body.length >> 7));

function parsed(body: Buffer): Batch {
  const push = parse(body);
  const batch = batchFor(body);
  if (!isObject(push)) {
    throw broken('the body', 'an object with "streams"');
  }
  const { streams = [] } = push;
  if (!Array.isArray(streams)) {
    throw broken('streams', 'a list');
  }
  for (const [index, stream] of streams.entries()) {
    readStream(batch, stream, index);
  }
  return batch;
}

function parse(body: Buffer): unknown {
  try {
    return parsePushJson(body);
  } catch (error) {
    if (isSvcError(error)) {
      throw error;
    }
    throw errors.push_json({ cause: (error as Error).message.slice(0, 200) });
  }
}

function readStream(batch: Batch, stream: unknown, index: number): void {
  const where = `streams[${index}]`;
  if (!isObject(stream)) {
    throw broken(where, 'an object with "stream" and "values"');
  }
  const labels = streamSets.of(textsIn(stream['stream'] ?? {}, `${where}.stream`));
  const values = stream['values'] ?? [];
  if (!Array.isArray(values)) {
    throw broken(`${where}.values`, 'a list');
  }
  const from = batch.count;
  for (let i = 0; i < values.length; i++) {
    readValue(batch, values[i], where, i);
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
  typeof value === 'object' && value !== null && !Array.isArray(value);

const broken = (where: string, expected: string): SvcError =>
  errors.push_shape({ where, expected });
