import { type Budget, JsonBytes, type Labels, queryError } from 'svc/query';

import type { InstantResult, RangeResult, RangeSeries } from '../promql/index.ts';
import type { SeriesExemplars } from '../store/select/exemplars.ts';

export const truncated = 'results truncated due to limit';

interface Remarks {
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
}

/** Writer of an answer: stops if it grows too large or the client has gone. */
export interface Page {
  readonly budget: Budget;
  readonly maxBytes: number;
  readonly limit?: number | undefined;
}

/** `{"status":"success","data":…}` around what `data` writes. */
export async function envelope(
  page: Page,
  data: (json: JsonBytes) => Promise<boolean> | boolean,
  { warnings = [], infos = [] }: Remarks = {},
  capacity?: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const json = new JsonBytes(capacity).raw('{"status":"success","data":');
  const cut = await data(json);
  list(json, 'warnings', [
    ...new Set([...warnings, ...page.budget.warnings, ...(cut ? [truncated] : [])]),
  ]);
  list(json, 'infos', infos);
  return json.raw('}').finish();
}

function list(json: JsonBytes, name: string, texts: readonly string[]): void {
  if (texts.length > 0) {
    json.raw(`,"${name}":[`);
    texts.forEach((text, at) => json.raw(at === 0 ? '' : ',').string(text));
    json.raw(']');
  }
}

export function instantAnswer(page: Page, result: InstantResult): Promise<Uint8Array<ArrayBuffer>> {
  return envelope(
    page,
    async (json) => {
      json.raw(`{"resultType":"${result.type}","result":`);
      const cut = await instantResult(page, json, result);
      json.raw('}');
      return cut;
    },
    result,
  );
}

async function instantResult(page: Page, json: JsonBytes, result: InstantResult): Promise<boolean> {
  switch (result.type) {
    case 'scalar':
      json.raw('[').timestampSeconds(result.time).raw(',').value(result.value).raw(']');
      return false;
    case 'string':
      json.raw('[').timestampSeconds(result.time).raw(',').string(result.value).raw(']');
      return false;
    case 'vector':
      return await each(page, json, result.samples, ({ labels, time, value }) => {
        metric(json, labels);
        json.raw(',"value":[').timestampSeconds(time).raw(',').value(value).raw(']}');
      });
    case 'matrix':
      return await matrix(page, json, result.series);
  }
}

export function rangeAnswer(page: Page, result: RangeResult): Promise<Uint8Array<ArrayBuffer>> {
  return envelope(
    page,
    async (json) => {
      json.raw('{"resultType":"matrix","result":');
      const cut = await matrix(page, json, result.series);
      json.raw('}');
      return cut;
    },
    result,
    roomFor(page, result.series),
  );
}

/** About what a matrix takes, so that it seldom has to move while it grows. */
const roomFor = ({ maxBytes }: Page, series: readonly RangeSeries[]): number =>
  Math.min(
    maxBytes,
    4_096 +
      series.reduce((sum, { times, labels }) => sum + times.length * 34 + labels.length * 24, 0),
  );

/** `{"result_type":"matrix","result":…,"warnings":[…]}` */
export async function toolAnswer(
  page: Page,
  {
    series,
    warnings,
  }: { readonly series: readonly RangeSeries[]; readonly warnings: readonly string[] },
): Promise<Uint8Array<ArrayBuffer>> {
  const json = new JsonBytes().raw('{"result_type":"matrix","result":');
  await matrix(page, json, series);
  json.raw(',"warnings":[');
  warnings.forEach((text, at) => json.raw(at === 0 ? '' : ',').string(text));
  return json.raw(']}').finish();
}

const matrix = (page: Page, json: JsonBytes, series: readonly RangeSeries[]): Promise<boolean> =>
  each(page, json, series, ({ labels, times, values }) => {
    metric(json, labels);
    json.raw(',"values":').points(times, values).raw('}');
  });

/** Writes `{"metric":{…}`, left open. */
function metric(json: JsonBytes, labels: Labels): void {
  json.raw('{"metric":');
  json.pairs(labels);
}

export function writeExemplars(json: JsonBytes, { series, exemplars }: SeriesExemplars): void {
  json.raw('{"seriesLabels":').pairs(series);
  json.raw(',"exemplars":[');
  exemplars.forEach(({ labels, time, value }, at) => {
    json.raw(at === 0 ? '{"labels":' : ',{"labels":').pairs(labels);
    json.raw(',"value":').value(value).raw(',"timestamp":').timestampSeconds(time).raw('}');
  });
  json.raw(']}');
}

/** A list, up to the limit; whether something was left out. */
export async function each<T>(
  { budget, maxBytes, limit = Infinity }: Page,
  json: JsonBytes,
  items: readonly T[],
  write: (item: T) => void,
): Promise<boolean> {
  json.raw('[');
  for (let i = 0; i < items.length && i < limit; i++) {
    json.raw(i === 0 ? '' : ',');
    write(items[i]!);
    if (json.length > maxBytes) {
      throw queryError(
        'too_large',
        `the answer is larger than ${maxBytes} bytes: ask for fewer series, a shorter window or a longer step`,
      );
    }
    await budget.breathe();
  }
  json.raw(']');
  return items.length > limit;
}
