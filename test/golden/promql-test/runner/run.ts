import { type Labels, labelValue, type Matcher, withLabel } from 'svc/query';

import { parse, print, selectorsOf } from '../../../../plugins/metricsdb/promql/index.ts';
import { difference, differenceOfRemarks } from './compare.ts';
import type { Answer, Engine } from './engine.ts';
import { pinned } from './pinned.ts';
import { nativeSeriesOf } from './histogram-of-classic.ts';
import { type Eval, type Load, readScript } from './script.ts';

export interface Outcome {
  readonly line: number;
  readonly expr: string;
  /** Why it was not run, or what went wrong; neither when it passed. */
  readonly skipped?: string;
  readonly failed?: string;
}

/** Functions and operators that work on native histograms alone. */
const nativeWork = /\bhistogram_(?:avg|count|sum|stddev|stdvar)\b|<\/|>\//;

/** Runs a script and says how each of its questions went. */
export async function runScript(text: string, engine: Engine): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let loads: Load[] = [];
  await engine.clear();
  for (const command of readScript(text)) {
    if (command.kind === 'clear') {
      loads = [];
      await engine.clear();
    } else if (command.kind === 'load') {
      loads.push(command);
      const { series, nativeToo } = command;
      const kept = engine.histograms
        ? [...series, ...(nativeToo ? nativeSeriesOf(series) : [])]
        : series.filter(({ histogram }) => !histogram);
      await engine.load(command.stepMs, kept);
    } else {
      const lacking = unsupported(command, loads, engine);
      const unasked = engine.unsupported?.(command.expr);
      const wrong = unasked === undefined ? await run(command, engine) : undefined;
      // What is answered rightly does not need what the store lacks, though its selectors touch it.
      const skipped = unasked ?? (wrong === undefined ? undefined : lacking);
      const failed = skipped === undefined ? wrong : undefined;
      outcomes.push({
        line: command.line,
        expr: command.expr,
        ...(skipped !== undefined && { skipped }),
        ...(failed !== undefined && { failed }),
      });
    }
  }
  return outcomes;
}

/** Returns what a question needs that stores of numbers do not have. */
function unsupported(
  { expr, series }: Eval,
  loads: readonly Load[],
  { histograms = false }: Engine,
): string | undefined {
  if (/\bstart_timestamp\b/.test(expr)) {
    return 'start timestamps';
  }
  if (histograms) {
    return loads.some(({ startTimestamps }) => startTimestamps) ? 'start timestamps' : undefined;
  }
  if (series.some(({ histogram }) => histogram) || nativeWork.test(expr)) {
    return 'native histogram';
  }
  let selectors;
  try {
    selectors = selectorsOf(parse(expr));
  } catch {
    return undefined;
  }
  const native = loads.flatMap(nativeOf);
  if (selectors.some(({ matchers }) => native.some((labels) => matchesAll(matchers, labels)))) {
    return 'native histogram';
  }
  return loads.some(({ startTimestamps }) => startTimestamps) ? 'start timestamps' : undefined;
}

function nativeOf({ series, nativeToo }: Load): Labels[] {
  const native = series.filter(({ histogram }) => histogram).map(({ labels }) => labels);
  const buckets = nativeToo
    ? series.filter(({ labels }) => labelValue(labels, '__name__').endsWith('_bucket'))
    : [];
  return [
    ...native,
    ...buckets.map(({ labels }) =>
      withLabel(
        withLabel(labels, 'le', ''),
        '__name__',
        labelValue(labels, '__name__').slice(0, -'_bucket'.length),
      ),
    ),
  ];
}

const matchesAll = (matchers: readonly Matcher[], labels: Labels): boolean =>
  matchers.every(({ name, matches }) => matches(labelValue(labels, name)));

async function run(command: Eval, engine: Engine): Promise<string | undefined> {
  const { at, expr } = command;
  if (!('instant' in at)) {
    return judge(command, () => engine.range(expr, at.start, at.end, at.step));
  }
  const time = at.instant;
  const first = await runInstant(command, engine, expr, time);
  if (first !== undefined || command.remarks.some(({ type }) => type === 'fail')) {
    return first;
  }
  const same = pinned(expr, time);
  // Where printing alone writes it otherwise, the places in remarks are other ones.
  const asked =
    same === undefined || print(parse(expr)) === expr ? command : { ...command, remarks: [] };
  for (const other of same === undefined
    ? []
    : time === 0
      ? [-1000, 0, 1000]
      : [-10 * time, 0, Math.trunc(time / 5), time, 10 * time]) {
    const failed = await runInstant(asked, engine, same!, other);
    if (failed !== undefined) {
      return `as ${same} at ${other} ms: ${failed}`;
    }
  }
  return undefined;
}

const tellsOfWindow = /\b(?:range|step|start|end)\s*\(/i;

async function runInstant(
  command: Eval,
  engine: Engine,
  query: string,
  time: number,
): Promise<string | undefined> {
  const failed = await judge(command, () => engine.instant(query, time));
  const rangeless =
    command.text !== undefined ||
    command.points !== undefined ||
    command.ordered ||
    tellsOfWindow.test(query);
  if (failed !== undefined || rangeless || command.remarks.some(({ type }) => type === 'fail')) {
    return failed;
  }
  const minute = 60_000;
  try {
    const answer = await engine.range(query, time - minute, time + minute, minute);
    const found = difference(command, middle(answer, time, command.scalar !== undefined));
    return found === undefined ? undefined : `in the middle of a range: ${found}`;
  } catch (error) {
    return `in a range: ${(error as Error).message}`;
  }
}

function middle(answer: Answer, time: number, scalar: boolean): Answer {
  if (answer.type !== 'matrix') {
    return answer;
  }
  const series = answer.series.flatMap(({ labels, times, values }) => {
    const index = times.indexOf(time);
    return index === -1 ? [] : [{ labels, times: [time], values: [values[index]!] }];
  });
  const first = series[0]?.values[0];
  return scalar
    ? { type: 'scalar', value: typeof first === 'number' ? first : NaN, warnings: [], infos: [] }
    : { ...answer, type: 'vector', series };
}

async function judge(command: Eval, ask: () => Promise<Answer>): Promise<string | undefined> {
  const failure = command.remarks.find(({ type }) => type === 'fail');
  let answer: Answer;
  try {
    answer = await ask();
  } catch (error) {
    const { message } = error as Error;
    return failure === undefined
      ? `unexpected error: ${message}`
      : failure.matches(message)
        ? undefined
        : `expected the error ${failure.shown}, got: ${message}`;
  }
  return failure === undefined
    ? (differenceOfRemarks(command, answer) ?? difference(command, answer))
    : 'expected an error, got an answer';
}
