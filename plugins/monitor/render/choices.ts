import type { Logger } from 'svc/sdk';
import type { Enforced } from 'svc/contracts/metricsdb';
import { compileRegex, formatDuration, formatFloat, idLabel, type Pattern } from 'svc/query';

import type { Variable } from '../model/dashboard.ts';
import { errors } from '../model/errors.ts';
import { inAskingOrder } from '../variables/asking-order.ts';
import { type Binding, type Bindings, insert } from '../variables/insertion.ts';
import { seriesOf, sourceOf, type ValueSource } from '../variables/value-source.ts';
import { escapedFor, escapedForRegex } from '../variables/query-text.ts';
import { type NameOfDevice, written } from './names.ts';
import type { Questions } from './questions.ts';
import { type PanelError, panelErrorOf } from './panel-error.ts';
import { auto } from '../variables/variable-rules.ts';
import type { Window } from './window.ts';

/** Variable with its options and its current value. */
export interface Choice {
  readonly variable: Variable;
  readonly value: readonly string[];
  readonly values: readonly string[];
  /** Names of the values, where they are ids of devices. */
  readonly texts?: readonly string[];
  readonly leftOut: number;
  readonly error?: PanelError;
}

export interface Choices {
  readonly list: readonly Choice[];
  readonly bindings: Bindings;
  /** Variables that have nothing to choose from: their value is empty, which equals that of a label that is not there. */
  readonly empty: ReadonlyMap<string, Variable>;
  /** Matchers that every query gets besides its own. */
  readonly filters: readonly Enforced[];
}

/** Value that stands for all of them. */
export const all = '$__all';

const mostValues = 500;
const longestValue = 200;
/** Max length of all values spelled out, which leaves capacity for the surrounding query. */
const longestAll = 2_000;

export interface ChoiceParts {
  readonly window: Window;
  readonly sampleInterval: number;
  readonly questions: Questions;
  readonly nameOf: NameOfDevice;
  readonly log: Logger;
}

/** Chooses the value of every variable. The query of one may use any other. */
export async function choose(
  variables: readonly Variable[],
  given: ReadonlyMap<string, readonly string[]>,
  parts: ChoiceParts,
): Promise<Choices> {
  assertKnown(variables, given);
  const bindings = new Map(builtIn(parts));
  const empty = new Map<string, Variable>();
  const chosen = new Map<Variable, Choice>();
  const filters: Enforced[] = [];
  for (const variable of inAskingOrder(variables)) {
    const { values, texts, leftOut, error } = await offered(variable, bindings, parts);
    const value = given.get(variable.name) ?? usual(variable, values);
    assertFits(variable, value);
    chosen.set(variable, {
      variable,
      value,
      values,
      leftOut,
      ...(texts && { texts }),
      ...(error && { error }),
    });
    if (variable.type === 'adhoc') {
      filters.push(...value.map((text) => filterOf(text, variable.name)));
    } else if (value.length === 0) {
      empty.set(variable.name, variable);
      if (error === undefined) {
        bindings.set(variable.name, { kind: 'texts', values: [''] });
      }
    } else {
      bindings.set(variable.name, bindingOf(variable, value, values, leftOut, parts.window));
    }
  }
  return { list: variables.map((one) => chosen.get(one)!), bindings, empty, filters };
}

/** Window of a rate: it needs two samples, and one may be late: hence four intervals. */
export const rateInterval = (step: number, sampleInterval: number): number =>
  Math.max(step + sampleInterval, 4 * sampleInterval);

/** Returns the variables that Grafana's queries rely on. */
export function builtIn({
  window: { step, from, to },
  sampleInterval,
}: Pick<ChoiceParts, 'window' | 'sampleInterval'>): Bindings {
  const plain = (text: string | number): Binding => ({ kind: 'plain', text: String(text) });
  return new Map([
    ['__interval', plain(formatDuration(step))],
    ['__interval_ms', plain(step)],
    ['__rate_interval_ms', plain(rateInterval(step, sampleInterval))],
    ['__auto', plain(formatDuration(Math.max(step, 4 * sampleInterval)))],
    ['__rate_interval', plain(formatDuration(rateInterval(step, sampleInterval)))],
    ['__range', plain(formatDuration(Math.max(1_000, Math.round((to - from) / 1_000) * 1_000)))],
    ['__range_s', plain(Math.round((to - from) / 1_000))],
    ['__range_ms', plain(to - from)],
    ['__from', plain(from)],
    ['__to', plain(to)],
  ]);
}

interface Offer {
  readonly values: readonly string[];
  readonly texts?: readonly string[];
  readonly leftOut: number;
  readonly error?: PanelError;
}

async function offered(
  variable: Variable,
  bindings: Bindings,
  { questions, nameOf, log }: ChoiceParts,
): Promise<Offer> {
  if (variable.type !== 'query') {
    return { values: variable.values ?? [], leftOut: 0 };
  }
  try {
    const pattern = variable.regex === undefined ? undefined : compileRegex(variable.regex);
    const found = new Set<string>();
    for (const text of await textsOf(variable, bindings, questions)) {
      const value = shown(text, pattern);
      if (value !== undefined && value !== '' && value.length <= longestValue) {
        found.add(value);
      }
    }
    // Devices are in the order of their names.
    const textOf = (value: string): string =>
      asksForDevices(variable) ? (nameOf(value) ?? value) : value;
    const sorted = [...found].sort(
      (a, b) => inPeoplesOrder(textOf(a), textOf(b)) || inPeoplesOrder(a, b),
    );
    const values = (variable.descending ? sorted.reverse() : sorted).slice(0, mostValues);
    return {
      values,
      leftOut: Math.max(0, sorted.length - mostValues),
      ...(values.some((value) => textOf(value) !== value) && { texts: values.map(textOf) }),
    };
  } catch (error) {
    return { values: [], leftOut: 0, error: panelErrorOf(error, log) };
  }
}

/** True if the values of a variable are ids of devices, which have names. */
function asksForDevices({ query = '', regex }: Variable): boolean {
  const source = sourceOf(query);
  return regex === undefined && source.kind === 'label_values' && source.label === idLabel;
}

/** Returns the texts that the query of a variable finds, before its pattern. */
async function textsOf(
  { query = '', store }: Variable,
  bindings: Bindings,
  questions: Questions,
): Promise<readonly string[]> {
  const source = sourceOf(query);
  if (store === 'logs') {
    return await logTexts(source, bindings, questions);
  }
  switch (source.kind) {
    case 'label_values': {
      const { label } = source;
      const series = await questions.series(seriesOf(source, bindings));
      return series.flatMap((labels) => (Object.hasOwn(labels, label) ? [labels[label]!] : []));
    }
    case 'label_names': {
      const selector = `{__name__=~"${source.pattern === '' ? '.+' : escapedFor('"', source.pattern)}"}`;
      return (await questions.series(selector)).flatMap((labels) => Object.keys(labels));
    }
    case 'metrics': {
      const selector = `{__name__=~".*(?:${escapedFor('"', source.pattern)}).*"}`;
      return (await questions.series(selector)).flatMap(({ __name__: name = '' }) => name);
    }
    case 'results': {
      const answer = await questions.instant(insert(source.query, bindings));
      return answer.type === 'vector'
        ? answer.labels.map(
            (labels, at) =>
              `${written(labels)} ${formatFloat(answer.values[at]!)} ${answer.times[at]!}`,
          )
        : [];
    }
    case 'series':
      return (await questions.series(insert(source.query, bindings))).map(written);
  }
}

async function logTexts(
  source: ValueSource,
  bindings: Bindings,
  questions: Questions,
): Promise<readonly string[]> {
  switch (source.kind) {
    case 'label_values':
      return await questions.logLabelValues(
        source.label,
        source.selector === '' ? undefined : insert(source.selector, bindings),
      );
    case 'label_names':
      return await questions.logLabels();
    default:
      throw errors.label_values_form({ query: 'the query' });
  }
}

function shown(value: string, pattern: Pattern | undefined): string | undefined {
  if (pattern === undefined) {
    return value;
  }
  const groups = pattern.exec(value);
  return groups === undefined ? undefined : (groups[1] ?? groups[0]);
}

function usual(variable: Variable, values: readonly string[]): readonly string[] {
  if (variable.default !== undefined) {
    return [variable.default];
  }
  if (variable.type === 'text') {
    return [''];
  }
  if (variable.type === 'adhoc') {
    return [];
  }
  // A pattern stands for all of them, known or not.
  return variable.all && (values.length > 0 || variable.all_value !== undefined)
    ? [all]
    : values.slice(0, 1);
}

function bindingOf(
  variable: Variable,
  value: readonly string[],
  values: readonly string[],
  leftOut: number,
  { step }: Window,
): Binding {
  if (variable.type === 'interval') {
    return { kind: 'plain', text: value[0] === auto ? formatDuration(step) : value[0]! };
  }
  const { type, all_value: pattern } = variable;
  // What the author wrote may be a part of a query; what a reader typed may not.
  const kind =
    (type === 'custom' || type === 'constant') && value.every((one) => values.includes(one))
      ? 'words'
      : 'texts';
  if (value[0] !== all) {
    return { kind, values: value };
  }
  if (pattern !== undefined) {
    return { kind: 'texts', values, regex: pattern };
  }
  const spelled = values.map(escapedForRegex).join('|');
  const whole = leftOut === 0 && values.length > 0 && spelled.length <= longestAll;
  return { kind: 'texts', values, regex: whole ? `(?:${spelled})` : '.+' };
}

function assertKnown(
  variables: readonly Variable[],
  given: ReadonlyMap<string, readonly string[]>,
): void {
  const names = variables.map(({ name }) => name);
  for (const name of given.keys()) {
    if (!names.includes(name)) {
      throw errors.no_variable(
        { name, detail: names.length === 0 ? 'none' : names.join(', ') },
        { details: [{ path: `/var-${name}`, message: 'is not a variable of this dashboard' }] },
      );
    }
  }
}

function assertFits(
  { name, type, multi, all: mayAll, values }: Variable,
  value: readonly string[],
): void {
  const complain = (message: string): never => {
    throw errors.variable_value(
      { name, message },
      { details: [{ path: `/var-${name}`, message }] },
    );
  };
  if (type === 'adhoc') {
    return;
  }
  if (value.length > 1 && (multi !== true || value.includes(all))) {
    complain(multi === true ? `takes ${all} alone` : 'takes one value');
  }
  if (value[0] === all && mayAll !== true) {
    complain(`does not allow ${all}`);
  }
  if (type === 'interval' && !values!.includes(value[0]!)) {
    complain(`must be one of ${values!.join(', ')}`);
  }
}

/** Reads a filter as Grafana writes it into an address: `name|=|value`. */
function filterOf(text: string, name: string): Enforced {
  const [, label, op, value] = /^([A-Za-z_][A-Za-z0-9_]*)\|(=|!=|=~|!~)\|([^]*)$/.exec(text) ?? [];
  if (label === undefined) {
    const message = 'takes filters such as job|=|node';
    throw errors.variable_value(
      { name, message },
      { details: [{ path: `/var-${name}`, message }] },
    );
  }
  return { name: label, op: op as Enforced['op'], value: value! };
}

/** Ten after nine. */
const inPeoplesOrder = (a: string, b: string): number =>
  a.localeCompare(b, 'en', { numeric: true }) || (a < b ? -1 : 1);
