import { SvcError } from 'svc/sdk';
import { ProtoReader } from 'svc/store';

import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { metricTypes } from './remote-write.ts';

/** Reads a remote write request of version 2: texts stand in one table, and series refer to them. */
export function readRemoteWrite2(bytes: Uint8Array, intake: Intake, metadata: MetadataSink): void {
  const symbols: string[] = [];
  const series: ProtoReader[] = [];
  const request = new ProtoReader(bytes);
  for (let field = request.next(); field !== 0; field = request.next()) {
    if (field === 4) {
      symbols.push(request.string());
    } else if (field === 5) {
      // The table may stand behind them.
      series.push(request.message());
    } else {
      request.skip();
    }
  }
  for (const message of series) {
    readSeries(message, symbols, intake, metadata);
  }
}

function readSeries(message: ProtoReader, symbols: readonly string[], intake: Intake, metadata: MetadataSink): void {
  const refs: number[] = [];
  const samples: { time: number; value: number; stale: boolean }[] = [];
  let described: { type: string; help: string; unit: string } | undefined;
  let histograms = 0;
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) {
      message.packedVarints((ref) => refs.push(ref));
    } else if (field === 2) {
      samples.push(readSample(message.message()));
    } else if (field === 3) {
      histograms++;
      message.skip();
    } else if (field === 5) {
      described = readMetadata(message.message(), symbols);
    } else {
      message.skip();
    }
  }
  const pairs = pairsOf(refs, symbols);
  const slot = intake.seriesOf(pairs);
  for (const { time, value, stale } of samples) {
    intake.sample(slot, time, value, stale);
  }
  for (; histograms > 0; histograms--) {
    intake.reject('native histograms are not stored; send classic ones');
  }
  const metric = pairs.find(([name]) => name === '__name__');
  if (described !== undefined && metric !== undefined) {
    metadata.note(metric[1], described);
  }
}

function readSample(message: ProtoReader): { time: number; value: number; stale: boolean } {
  const sample = { time: 0, value: 0, stale: false };
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) {
      sample.stale = message.staleNext();
      sample.value = message.double();
    } else if (field === 2) {
      sample.time = message.int64();
    } else {
      message.skip();
    }
  }
  return sample;
}

function readMetadata(message: ProtoReader, symbols: readonly string[]): { type: string; help: string; unit: string } {
  const found = { type: 'unknown', help: '', unit: '' };
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) {
      found.type = metricTypes[message.uint64()] ?? 'unknown';
    } else if (field === 3) {
      found.help = symbolAt(symbols, message.uint64());
    } else if (field === 4) {
      found.unit = symbolAt(symbols, message.uint64());
    } else {
      message.skip();
    }
  }
  return found;
}

function pairsOf(refs: readonly number[], symbols: readonly string[]): [string, string][] {
  if (refs.length % 2 === 1) {
    throw new SvcError('invalid_argument', 'the body is no remote write request: a series has a label name without a value');
  }
  return Array.from({ length: refs.length / 2 }, (_, i) => [symbolAt(symbols, refs[i * 2]!), symbolAt(symbols, refs[i * 2 + 1]!)]);
}

function symbolAt(symbols: readonly string[], ref: number): string {
  const text = symbols[ref];
  if (text === undefined) {
    throw new SvcError('invalid_argument', `the body is no remote write request: it refers to symbol ${ref} and has ${symbols.length}`);
  }
  return text;
}
