import { type Clock, type Logger, type Scope, timestamp } from 'svc/sdk';
import { type Asking, formatDuration, queryError } from 'svc/query';

import type { Dashboard, DashboardPanel } from '../model/dashboard.ts';
import { drawingOf, type PanelQuery } from '../model/drawing.ts';
import { errors } from '../model/errors.ts';
import { isWordless, queriesOf, storeOf } from '../model/panel.ts';
import { insert, inWords, namesIn } from '../variables/insertion.ts';
import { seriesOf, sourceOf } from '../variables/value-source.ts';
import { emptyData } from './answers.ts';
import type { Answered } from './answered.ts';
import { ask, type AskParts } from './ask.ts';
import { type Choices, choose } from './choices.ts';
import { explainMissing, type Missing } from './missing.ts';
import { type PanelError, panelErrorOf } from './panel-error.ts';
import { Questions, type RequireRead, type Stores } from './questions.ts';
import { shares } from './shares.ts';
import type { NameOfDevice } from './names.ts';
import { type Drawable, drawable } from './show.ts';
import { unfold, type Unfolded } from './unfold.ts';
import { type AskedWindow, windowOf } from './window.ts';

export interface RenderRequest {
  readonly window: AskedWindow;
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** Rows whose panels get data. */
  readonly rows?: string | undefined;
  readonly asking: Asking;
  readonly requireRead: RequireRead;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

export interface RenderParts {
  readonly stores: Stores;
  readonly nameOf: NameOfDevice;
  readonly clock: Clock;
  readonly scope: Scope;
  readonly log: Logger;
  readonly sampleInterval: () => number;
  readonly deadlineMs: () => number;
}

const mostSeries = 50;
/** Max points of all panels together, so that one dashboard cannot exhaust memory or bandwidth. */
const mostPoints = 240_000;

/** A dashboard with its data: every panel is asked for at once, within one deadline. */
export async function render(
  dashboard: Dashboard,
  { window: askedWindow, given, rows, asking, requireRead, signal }: RenderRequest,
  parts: RenderParts,
) {
  const { stores, nameOf, clock, scope, log } = parts;
  const sampleInterval = parts.sampleInterval();
  const window = windowOf(askedWindow, clock.now(), sampleInterval);
  const deadlineMs = parts.deadlineMs();
  const began = clock.monotonic();
  const late = new AbortController();
  const disarm = scope.timeout('deadline of a dashboard', deadlineMs, () =>
    late.abort(
      queryError(
        'timeout',
        `no answer within the ${deadlineMs / 1_000} s of the dashboard; use a shorter window or a longer step`,
      ),
    ),
  );
  try {
    const left = (): number => deadlineMs - (clock.monotonic() - began);
    const questions = new Questions(stores, {
      window,
      asking,
      requireRead,
      signal: AbortSignal.any([signal, late.signal]),
      left,
    });
    const choices = await choose(dashboard.variables, given, {
      window,
      sampleInterval,
      questions,
      nameOf,
      log,
    });
    const filling = {
      dashboard,
      choices,
      window,
      questions: questions.narrowed(choices.filters),
      sampleInterval,
      nameOf,
      log,
    };
    const asked = await Promise.all(
      unfold(dashboard.panels, choices, rows).map((unfolded) => prepared(unfolded, filling)),
    );
    const most = shares(
      asked.map(({ drawable: { points, series } }) => ({ points, series })),
      mostPoints,
      mostSeries,
    );
    const panels = asked.map((one, at) => finished(one, most[at]!));
    signal.throwIfAborted();
    return {
      uid: dashboard.uid,
      title: dashboard.title,
      description: dashboard.description,
      source: dashboard.source,
      from: timestamp(window.from),
      to: timestamp(window.to),
      step: formatDuration(window.step),
      variables: choices.list.map(shownChoice),
      panels,
    };
  } finally {
    await disarm();
  }
}

const shownChoice = ({
  variable: { name, title = name, type, multi = false, all = false, texts: written, hide },
  value,
  values,
  texts = written,
  leftOut,
  error,
}: Choices['list'][number]) => ({
  name,
  title,
  type,
  multi,
  all,
  value: [...value],
  values: [...values],
  ...(texts && { texts: [...texts] }),
  ...(hide && { hide }),
  ...(leftOut > 0 && { values_left_out: leftOut }),
  ...(error && { error }),
});

interface Filling extends AskParts {
  readonly nameOf: NameOfDevice;
  readonly dashboard: Dashboard;
  readonly choices: Choices;
}

/** A panel with its answers, before it is known how much of them may be shown. */
interface Prepared {
  readonly unfolded: Unfolded;
  readonly answers: readonly Answered[];
  readonly drawable: Drawable;
  readonly error?: PanelError;
  readonly missing?: Missing;
}

const nothing = ({ panel }: Unfolded): Drawable => ({
  points: 0,
  series: 0,
  show: () => ({ data: emptyData(panel), leftOut: 0 }),
});

async function prepared(unfolded: Unfolded, filling: Filling): Promise<Prepared> {
  const { panel, bindings, folded } = unfolded;
  const { choices, log } = filling;
  const empty = { unfolded, answers: [], drawable: nothing(unfolded) };
  if (folded || isWordless(panel.type)) {
    return empty;
  }
  try {
    const unset = queriesOf(panel)
      .flatMap(({ query, hidden }) => (hidden === true ? [] : [...namesIn(query)]))
      .find((name) => choices.empty.has(name));
    if (unset !== undefined && !choices.bindings.has(unset)) {
      return { ...empty, missing: await explainUnset(unset, filling) };
    }
    const answers = await ask(panel, bindings, filling);
    const [first] = answers;
    const isRefused = answers.every(({ error }) => error !== undefined);
    if (isRefused && unset !== undefined) {
      return { ...empty, missing: await explainUnset(unset, filling) };
    }
    if (first === undefined || isRefused) {
      return { ...empty, answers, ...(first?.error && { error: first.error }) };
    }
    const found = drawable(panel, answers, filling.nameOf);
    const isEmpty = answers.every(({ answer }) => answer === undefined || isNothing(answer));
    return {
      unfolded,
      answers,
      drawable: found,
      ...(isEmpty && {
        missing: await (unset === undefined
          ? explained(panel, answers, filling)
          : explainUnset(unset, filling)),
      }),
    };
  } catch (error) {
    return { ...empty, error: panelErrorOf(error, log) };
  }
}

const isNothing = (answer: NonNullable<Answered['answer']>): boolean =>
  answer.type === 'streams'
    ? answer.lines.length === 0
    : answer.type === 'traces'
      ? answer.traces.length === 0
      : (answer.type === 'matrix' || answer.type === 'vector') && answer.labels.length === 0;

function finished({ unfolded, answers, drawable: found, error, missing }: Prepared, most: number) {
  const { panel, bindings, repeated, row, folded } = unfolded;
  const { id, source, title, type, query, legend, unit, thresholds, position, ...rest } = panel;
  const { data, leftOut, table } = found.show(most);
  const { queries, content, ...drawing } = drawingOf(rest);
  const expanded = answers[0]?.expanded;
  const warnings = warningsOf(answers);
  return {
    id,
    source,
    title: inWords(title, bindings),
    type,
    query,
    ...(expanded !== undefined && { expanded_query: expanded }),
    legend,
    unit,
    thresholds: [...thresholds],
    position,
    ...drawing,
    ...(content && { content: { ...content, text: inWords(content.text, bindings) } }),
    ...(queries && { queries: queries.map((one) => shownQuery(one, answers)) }),
    ...(row !== undefined && { row }),
    ...(folded && { folded }),
    ...(repeated && { repeated }),
    data,
    ...(table && { table }),
    ...(leftOut > 0 && { series_left_out: leftOut }),
    ...(warnings.length > 0 && { warnings }),
    ...(error && { error }),
    ...(missing && { missing: { message: missing.message, metrics: [...missing.metrics] } }),
  };
}

function shownQuery(query: PanelQuery, answers: readonly Answered[]) {
  const { expanded, error } = answers.find((one) => one.query.ref === query.ref) ?? {};
  return {
    ...query,
    ...(expanded !== undefined && { expanded_query: expanded }),
    ...(error && { error }),
  };
}

/** Returns what stores warn of, and the queries that failed beside others that did not. */
const warningsOf = (answers: readonly Answered[]): string[] => [
  ...new Set(
    answers.flatMap(({ query: { ref }, answer, error }) => [
      ...(error && answers.length > 1 ? [`query ${ref}: ${error.message}`] : []),
      ...(answer?.warnings ?? []),
      ...((answer?.type === 'streams' || answer?.type === 'traces') && answer.partial
        ? ['the search ended before it had read the whole window; use a shorter window']
        : []),
    ]),
  ),
];

async function explained(
  panel: DashboardPanel,
  answers: readonly Answered[],
  { dashboard: { sources: origins }, questions, window }: Filling,
): Promise<Missing> {
  const asked = answers.find(({ answer }) => answer !== undefined)!;
  const store = storeOf(panel, asked.query);
  if (store !== 'metrics') {
    const span = formatDuration(Math.round((window.to - window.from) / 1_000) * 1_000);
    return { message: unmatched[store](span), metrics: [] };
  }
  return await explainMissing(asked.expanded!, { questions, window, origins });
}

const unmatched = {
  logs: (span: string) =>
    `no line in these ${span} matches the query; lines come from the plugin logs of an edge, or from a client that pushes to /loki/api/v1/push`,
  traces: (span: string) =>
    `no trace in these ${span} matches the query; traces come from clients that push to /v1/traces`,
} as const;

/**
 * Explains an unset variable, without which the query cannot be sent: what is missing is the source
 * of its choice.
 */
async function explainUnset(
  name: string,
  { dashboard: { sources: origins }, choices, questions, window }: Filling,
): Promise<Missing> {
  const { error } = choices.list.find(({ variable }) => variable.name === name)!;
  if (error !== undefined) {
    const unset = error.kind === 'query' ? errors.variable_query : errors.variable_unasked;
    throw unset({ name, problem: error.message });
  }
  const { query = '', store } = choices.empty.get(name)!;
  const source = sourceOf(query);
  const asked =
    store === 'logs'
      ? undefined
      : source.kind === 'label_values'
        ? seriesOf(source, choices.bindings)
        : 'query' in source
          ? insert(source.query, choices.bindings)
          : undefined;
  const { message, metrics } =
    asked === undefined
      ? { message: 'its query finds nothing', metrics: [] }
      : await explainMissing(asked, { questions, window, origins });
  return { message: `the variable ${name} has no values to choose from: ${message}`, metrics };
}
