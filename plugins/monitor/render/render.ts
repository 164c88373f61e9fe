import { type Clock, type Logger, type Scope, timestamp } from 'svc/sdk';
import { type Asking, formatDuration, queryError } from 'svc/query';

import { errors } from '../model/errors.ts';
import { emptyData, type Shown, shownInstant, shownLines, shownMatrix } from './answers.ts';
import { type Choices, choose } from './choices.ts';
import type { Dashboard, DashboardPanel } from '../model/dashboard.ts';
import { insert, namesIn } from '../variables/insertion.ts';
import { labelValues, seriesOf } from '../variables/label-values.ts';
import { explainMissing, type Missing } from './missing.ts';
import { arranged } from '../model/position.ts';
import { Questions, type RequireRead, type Stores } from './questions.ts';
import { type PanelError, panelErrorOf } from './panel-error.ts';
import { type AskedWindow, type Window, windowOf } from './window.ts';

export interface RenderRequest {
  readonly window: AskedWindow;
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly asking: Asking;
  readonly requireRead: RequireRead;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

export interface RenderParts {
  readonly stores: Stores;
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
  { window: asked, given, asking, requireRead, signal }: RenderRequest,
  parts: RenderParts,
) {
  const { stores, clock, scope, log } = parts;
  const sampleInterval = parts.sampleInterval();
  const window = windowOf(asked, clock.now(), sampleInterval);
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
      log,
    });
    const most = Math.max(
      1,
      Math.min(
        mostSeries,
        Math.floor(
          mostPoints / dashboard.panels.length / ((window.end - window.start) / window.step + 1),
        ),
      ),
    );
    const filling = { dashboard, choices, window, questions, most, log };
    const panels = await Promise.all(
      arranged(dashboard.panels).map((panel) => fill(panel, filling)),
    );
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
  variable: { name, title = name, type, multi = false, all = false },
  value,
  values,
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
  ...(leftOut > 0 && { values_left_out: leftOut }),
  ...(error && { error }),
});

interface Filling {
  readonly dashboard: Dashboard;
  readonly choices: Choices;
  readonly window: Window;
  readonly questions: Questions;
  readonly most: number;
  readonly log: Logger;
}

interface Filled extends Shown {
  readonly expanded?: string;
  readonly warnings: readonly string[];
  readonly error?: PanelError;
  readonly missing?: Missing;
}

async function fill(panel: DashboardPanel, filling: Filling) {
  const { data, leftOut, expanded, warnings, error, missing } = await filled(panel, filling);
  const { id, source, title, type, query, legend, unit, thresholds, position } = panel;
  return {
    id,
    source,
    title,
    type,
    query,
    ...(expanded !== undefined && { expanded_query: expanded }),
    legend,
    unit,
    thresholds: [...thresholds],
    position,
    data,
    ...(leftOut > 0 && { series_left_out: leftOut }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
    ...(error && { error }),
    ...(missing && { missing: { message: missing.message, metrics: [...missing.metrics] } }),
  };
}

async function filled(panel: DashboardPanel, filling: Filling): Promise<Filled> {
  const { choices, log } = filling;
  const nothing: Filled = { data: emptyData(panel), leftOut: 0, warnings: [] };
  let expanded: string | undefined;
  try {
    const unset = [...namesIn(panel.query)].find((name) => choices.empty.has(name));
    if (unset !== undefined) {
      return { ...nothing, missing: await explainUnset(unset, filling) };
    }
    expanded = insert(panel.query, choices.bindings);
    const shown = await answered(panel, expanded, filling);
    if (shown.data.result.length > 0) {
      return { ...shown, expanded };
    }
    return { ...shown, expanded, missing: await explained(panel, expanded, filling) };
  } catch (error) {
    return {
      ...nothing,
      ...(expanded !== undefined && { expanded }),
      error: panelErrorOf(error, log),
    };
  }
}

async function answered(
  panel: DashboardPanel,
  query: string,
  { questions, most }: Filling,
): Promise<Filled> {
  switch (panel.type) {
    case 'timeseries': {
      const answer = await questions.range(query);
      return { ...shownMatrix(answer, panel, most), warnings: answer.warnings };
    }
    case 'logs': {
      const answer = await questions.lines(query);
      const partial = answer.partial
        ? ['the search ended before it had read the whole window; use a shorter window']
        : [];
      return { ...shownLines(answer, panel), warnings: [...answer.warnings, ...partial] };
    }
    default: {
      const answer = await questions.instant(query);
      return { ...shownInstant(answer, panel, most), warnings: answer.warnings };
    }
  }
}

async function explained(
  panel: DashboardPanel,
  query: string,
  { dashboard: { sources: origins }, questions, window }: Filling,
): Promise<Missing> {
  if (panel.type === 'logs') {
    const span = formatDuration(Math.round((window.to - window.from) / 1_000) * 1_000);
    return {
      message: `no line in these ${span} matches the query; lines come from the plugin logs of an edge, or from a client that pushes to /loki/api/v1/push`,
      metrics: [],
    };
  }
  return await explainMissing(query, { questions, window, origins });
}

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
  const { query = '' } = choices.empty.get(name)!;
  const { message, metrics } = await explainMissing(
    seriesOf(labelValues(query), choices.bindings),
    { questions, window, origins },
  );
  return { message: `the variable ${name} has no values to choose from: ${message}`, metrics };
}
