import { type Labels, noLabels } from 'svc/query';
import { ProtoReader } from 'svc/store';

import { Batch } from '../lines/batch.ts';
import { LabelSets } from './label-sets.ts';

const streamSets = new LabelSets('streams');
const metadataSets = new LabelSets('metadata');

/** A push body of Loki's protobuf shape, already unpacked: `streams = 1 {labels = 1, entries = 2 {timestamp, line, metadata}}`. */
export function readProtoPush(body: Uint8Array): Batch {
  const batch = new Batch(body.length, Math.max(16, body.length >> 7));
  const push = new ProtoReader(body);
  for (let field = push.next(); field !== 0; field = push.next()) {
    if (field === 1) {
      readStream(batch, push.message());
    } else {
      push.skip();
    }
  }
  return batch;
}

function readStream(batch: Batch, stream: ProtoReader): void {
  const from = batch.count;
  let labels: Labels = noLabels;
  for (let field = stream.next(); field !== 0; field = stream.next()) {
    if (field === 1) {
      labels = streamSets.text(stream.string());
    } else if (field === 2) {
      readEntry(batch, stream.message());
    } else {
      stream.skip();
    }
  }
  batch.part(labels, from);
}

function readEntry(batch: Batch, entry: ProtoReader): void {
  let at: Time = { seconds: 0, nanos: 0 };
  let line: Uint8Array = nothing;
  const pairs: [string, string][] = [];
  for (let field = entry.next(); field !== 0; field = entry.next()) {
    if (field === 1) {
      at = readTime(entry.message());
    } else if (field === 2) {
      line = entry.bytes();
    } else if (field === 3) {
      pairs.push(readPair(entry.message()));
    } else {
      entry.skip();
    }
  }
  const ms = Math.floor(at.nanos / 1e6);
  batch.line(
    at.seconds * 1_000 + ms,
    at.nanos - ms * 1e6,
    line,
    pairs.length === 0 ? 0 : batch.metaOf(metadataSets.of(pairs)),
  );
}

interface Time {
  readonly seconds: number;
  readonly nanos: number;
}

function readTime(time: ProtoReader): Time {
  let seconds = 0;
  let nanos = 0;
  for (let field = time.next(); field !== 0; field = time.next()) {
    if (field === 1) {
      seconds = time.int64();
    } else if (field === 2) {
      nanos = time.int32();
    } else {
      time.skip();
    }
  }
  return { seconds, nanos };
}

function readPair(pair: ProtoReader): [string, string] {
  let name = '';
  let value = '';
  for (let field = pair.next(); field !== 0; field = pair.next()) {
    if (field === 1) {
      name = pair.string();
    } else if (field === 2) {
      value = pair.string();
    } else {
      pair.skip();
    }
  }
  return [name, value];
}

const nothing = new Uint8Array(0);
