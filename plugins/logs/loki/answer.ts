import { JsonBytes } from 'svc/query';

import {
  type FoundLine,
  type InstantResult,
  type LabelsBeside,
  type LinesResult,
  type RangeResult,
  streamsOf,
} from '../logql/index.ts';
import { nanosText } from '../store/lines/nanos.ts';
import type { Cost } from '../thread/query-runner.ts';

const head = '{"status":"success","data":{"resultType":';

export function linesAnswer(
  { lines, partial }: LinesResult,
  cost: Cost,
  warnings: readonly string[],
  categorized: boolean,
): Uint8Array {
  const json = new JsonBytes(64 * 1024)
    .raw(head)
    .raw('"streams",')
    .raw(categorized ? '"encodingFlags":["categorize-labels"],' : '')
    .raw('"result":[');
  streamsOf(lines).forEach(({ labels, lines: own }, index) => {
    json.raw(index === 0 ? '{"stream":' : ',{"stream":');
    json.pairs(labels);
    json.raw(',"values":[');
    own.forEach((line, at) => writeLine(json, line, at));
    json.raw(']}');
  });
  return ended(
    json,
    lines.length,
    cost,
    partial
      ? [...warnings, 'the search ended before it had read the whole window: use a shorter one']
      : warnings,
  );
}

export function writeLine(json: JsonBytes, line: FoundLine, at: number): void {
  json
    .raw(at === 0 ? '["' : ',["')
    .raw(nanosText(line))
    .raw('",')
    .string(line.line);
  if (line.beside !== undefined) {
    writeBeside(json, line.beside);
  }
  json.raw(']');
}

/** Writes the label groups, leaving out empty ones. */
function writeBeside(json: JsonBytes, { metadata, parsed }: LabelsBeside): void {
  json.raw(',{');
  if (metadata.length > 0) {
    json.raw('"structuredMetadata":').pairs(metadata);
  }
  if (parsed.length > 0) {
    json.raw(metadata.length > 0 ? ',"parsed":' : '"parsed":').pairs(parsed);
  }
  json.raw('}');
}

export function instantAnswer(
  result: InstantResult,
  cost: Cost,
  warnings: readonly string[],
): Uint8Array {
  const json = new JsonBytes().raw(head);
  if (result.type === 'scalar') {
    json
      .raw('"scalar","result":[')
      .timestampSeconds(result.time)
      .raw(',')
      .value(result.value)
      .raw(']');
    return closed(json, 1, cost, warnings);
  }
  json.raw('"vector","result":[');
  result.samples.forEach(({ labels, value }, index) => {
    json.raw(index === 0 ? '{"metric":' : ',{"metric":');
    json.pairs(labels);
    json.raw(',"value":[').timestampSeconds(result.time).raw(',').value(value).raw(']}');
  });
  return ended(json, result.samples.length, cost, warnings);
}

export function rangeAnswer(
  { series }: RangeResult,
  cost: Cost,
  warnings: readonly string[],
): Uint8Array {
  const json = new JsonBytes(16 * 1024).raw(head).raw('"matrix","result":[');
  series.forEach(({ labels, times, values }, index) => {
    json.raw(index === 0 ? '{"metric":' : ',{"metric":');
    json.pairs(labels);
    json.raw(',"values":').points(times, values).raw('}');
  });
  return ended(json, series.length, cost, warnings);
}

/** Returns a list answer; omits an empty list, as Loki does. */
export const listAnswer = (
  values: readonly string[],
  warnings: readonly string[] = [],
): Uint8Array =>
  plainAnswer({ status: 'success', ...(values.length > 0 && { data: values }), ...told(warnings) });

/**
 * Returns the warnings about what an answer lacks, as a member of it; none if nothing is missing.
 */
export const told = (warnings: readonly string[]): { readonly warnings?: readonly string[] } =>
  warnings.length === 0 ? {} : { warnings };

export const plainAnswer = (value: unknown): Uint8Array =>
  Buffer.from(JSON.stringify(value), 'utf8');

const ended = (
  json: JsonBytes,
  entries: number,
  cost: Cost,
  warnings: readonly string[],
): Uint8Array => closed(json.raw(']'), entries, cost, warnings);

function closed(
  json: JsonBytes,
  entries: number,
  { bytes, lines, seconds, queuedSeconds }: Cost,
  warnings: readonly string[],
): Uint8Array {
  const rate = (count: number): number => (seconds > 0 ? Math.round(count / seconds) : 0);
  const summary = {
    bytesProcessedPerSecond: rate(bytes),
    linesProcessedPerSecond: rate(lines),
    totalBytesProcessed: bytes,
    totalLinesProcessed: lines,
    execTime: seconds,
    queueTime: queuedSeconds,
    totalEntriesReturned: entries,
  };
  json.raw(`,"stats":{"summary":${JSON.stringify(summary)}}}`);
  if (warnings.length > 0) {
    json.raw(`,"warnings":${JSON.stringify(warnings)}`);
  }
  return json.raw('}').finish();
}
