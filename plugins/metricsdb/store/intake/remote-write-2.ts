import { labelsOf } from 'svc/query';
import { ProtoReader } from 'svc/store';

import { errors } from './errors.ts';
import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { strictText } from './raw-labels.ts';
import { metricTypes } from './remote-write.ts';

/** Reads a remote write request of version 2: texts are in one table, and series refer to them. */
export function readRemoteWrite2(bytes: Uint8Array, intake: Intake, metadata: MetadataSink): void {
  const symbols: string[] = [];
  const series: ProtoReader[] = [];
  const request = new ProtoReader(bytes);
  for (let field = request.next(); field !== 0; field = request.next()) {
    if (field === 4) {
      symbols.push(strictText(request.bytes()));
    } else if (field === 5) {
      // The symbol table may follow them.
      series.push(request.message());
    } else {
      request.skip();
    }
  }
  if (symbols.length > 0 && symbols[0] !== '') {
    throw errors.first_symbol();
  }
  for (const message of series) {
    readSeries(message, symbols, intake, metadata);
  }
}

function readSeries(
  message: ProtoReader,
  symbols: readonly string[],
  intake: Intake,
  metadata: MetadataSink,
): void {
  const refs: number[] = [];
  const samples: { time: number; value: number; stale: boolean }[] = [];
  let described: { type: string; help: string; unit: string } | undefined;
  const exemplars: ReturnType<typeof readExemplar>[] = [];
  let histograms = 0;
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) {
      message.packedVarints((ref) => refs.push(ref));
    } else if (field === 2) {
      samples.push(readSample(message.message()));
    } else if (field === 3) {
      histograms++;
      message.skip();
    } else if (field === 4) {
      exemplars.push(readExemplar(message.message()));
    } else if (field === 5) {
      described = readMetadata(message.message(), symbols);
    } else {
      message.skip();
    }
  }
  const pairs = pairsOf(refs, symbols);
  if (typeof pairs === 'string') {
    // A series without samples is refused as one.
    [0, ...samples.slice(1)].forEach(() => intake.reject(pairs));
    return;
  }
  const slot = intake.seriesOf(pairs);
  for (const { time, value, stale } of samples) {
    intake.sample(slot, time, value, stale);
  }
  for (const { refs: own, time, value } of exemplars) {
    const labels = pairsOf(own, symbols);
    if (typeof labels !== 'string') {
      intake.exemplar(slot, { labels: labelsOf(labels), time, value });
    }
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

function readExemplar(message: ProtoReader): {
  readonly refs: readonly number[];
  readonly time: number;
  readonly value: number;
} {
  const exemplar = { refs: [] as number[], time: 0, value: 0 };
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) {
      message.packedVarints((ref) => exemplar.refs.push(ref));
    } else if (field === 2) {
      exemplar.value = message.double();
    } else if (field === 3) {
      exemplar.time = message.int64();
    } else {
      message.skip();
    }
  }
  return exemplar;
}

function readMetadata(
  message: ProtoReader,
  symbols: readonly string[],
): { type: string; help: string; unit: string } {
  const found = { type: 'unknown', help: '', unit: '' };
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) {
      found.type = metricTypes[message.uint64()] ?? 'unknown';
    } else if (field === 3) {
      found.help = symbols[message.uint64()] ?? '';
    } else if (field === 4) {
      found.unit = symbols[message.uint64()] ?? '';
    } else {
      message.skip();
    }
  }
  return found;
}

/** Returns the label pairs, or the error, which concerns this series alone. */
function pairsOf(refs: readonly number[], symbols: readonly string[]): [string, string][] | string {
  if (refs.length % 2 === 1) {
    return 'a series has a label name without a value';
  }
  const beyond = refs.find((ref) => ref >= symbols.length);
  return beyond === undefined
    ? Array.from({ length: refs.length / 2 }, (_, i) => [
        symbols[refs[i * 2]!]!,
        symbols[refs[i * 2 + 1]!]!,
      ])
    : `a series refers to symbol ${beyond} of ${symbols.length}`;
}
