import { type DeviceNameTable, type Matcher, queryError, type QueryRunner } from 'svc/query';
import { isSvcError } from 'svc/sdk';

import { Parameters } from '../prometheus/parameters.ts';
import { readInstant, readRange, readSettled } from '../prometheus/question.ts';
import { enforced, labelName, matcherSets } from '../prometheus/series-selector.ts';
import { type Expr, parse, print, selectorsOf } from '../promql/index.ts';
import { longestQuery } from '../promql/parse/parser.ts';
import { printMatcher } from '../promql/parse/print.ts';
import { assertAnswerable } from '../service/answers.ts';
import type {
  Asked,
  Endpoint,
  Forwarded,
  Pairs,
  QueryLimits,
  ServiceQuestion,
} from '../thread/contract.ts';

export interface PlanParts {
  readonly runner: QueryRunner<QueryLimits>;
  readonly names: DeviceNameTable;
}

/**
 * Rebuilds a call from what is known, checked and bounded, so that nothing else of the caller's
 * reaches the other side.
 */
export function plan({ runner, names }: PlanParts, asked: Asked, now: number): Forwarded {
  const { limits } = runner;
  const parameters = Parameters.of(asked);
  const { timeoutMs = limits.timeoutMs } = readSettled(parameters, limits);
  const longest = Math.min(timeoutMs, limits.timeoutMs);
  const limit = parameters.limit();
  const tail: Pairs = limit === undefined ? [] : [['limit', String(limit)]];
  const [path, pairs] = planners[asked.endpoint]({
    asked,
    parameters,
    limits,
    names,
    now,
    also: enforced(asked.enforce),
    tail,
    timed: [['timeout', milliseconds(longest)], ...tail],
  });
  return { path, pairs, timeoutMs: longest };
}

/** Call as parsed for every endpoint. */
interface Call {
  readonly asked: Asked;
  readonly parameters: Parameters;
  readonly limits: QueryLimits;
  readonly names: DeviceNameTable;
  readonly now: number;
  /** Matchers of what the caller may see. */
  readonly also: readonly Matcher[];
  /** The limit, if there is one. */
  readonly tail: Pairs;
  /** The limit and the timeout. */
  readonly timed: Pairs;
}

type Planner = (call: Call) => readonly [path: string, pairs: Pairs];

const planners: Readonly<Record<Endpoint, Planner>> = {
  query({ parameters, now, names, also, timed }) {
    const { query, time } = readInstant(parameters, now);
    return [
      'query',
      [
        ['query', restricted(demandText(query), also, names)],
        ['time', seconds(time)],
        ...lookback(parameters),
        ...timed,
      ],
    ];
  },
  query_range({ parameters, limits, names, also, timed }) {
    const { query, start, end, step } = readRange(parameters, limits);
    return [
      'query_range',
      [
        ['query', restricted(demandText(query), also, names)],
        ...window(start, end),
        ['step', milliseconds(step)],
        unaligned,
        ...lookback(parameters),
        ...timed,
      ],
    ];
  },
  series(call) {
    if (call.parameters.all('match[]').length === 0) {
      throw queryError('bad_data', 'no match[] parameter provided');
    }
    return ['series', selected(call)];
  },
  labels: (call) => ['labels', selected(call)],
  values: (call) => [
    `label/${encodeURIComponent(labelName(call.asked.label ?? ''))}/values`,
    selected(call),
  ],
  metadata({ parameters, also, tail }) {
    if (also.length > 0) {
      throw queryError(
        'bad_data',
        'metadata is not available to callers who may see only some of the series',
      );
    }
    const metric = parameters.text('metric');
    return [
      'metadata',
      [...(metric === '' ? [] : ([['metric', metric.slice(0, 1_024)]] as const)), ...tail],
    ];
  },
  query_exemplars: ({ parameters, names, also }) => [
    'query_exemplars',
    [
      ['query', restricted(demandText(parameters.text('query')), also, names)],
      ...window(parameters.time('start'), parameters.time('end')),
    ],
  ],
  format_query() {
    throw queryError('bad_data', 'format_query is answered here');
  },
};

/** Selectors, window and limit, as the endpoints about series and labels take them. */
const selected = ({ parameters, also, names, tail }: Call): Pairs => [
  ...printed(matcherSets(parameters.all('match[]'), also), names),
  ...optionalWindow(parameters),
  ...tail,
];

/** The same for a question of another plugin, which may be restricted. */
export function planService({ runner, names }: PlanParts, question: ServiceQuestion): Forwarded {
  assertAnswerable(question, runner);
  const { limits } = runner;
  const { timeoutMs = limits.timeoutMs, enforce, lookbackMs } = question.options;
  const longest = Math.min(timeoutMs, limits.timeoutMs);
  const also = enforced(enforce);
  const timed: Pairs = [
    ...(lookbackMs === undefined ? [] : [['lookback_delta', milliseconds(lookbackMs)] as const]),
    ['timeout', milliseconds(longest)],
  ];
  switch (question.kind) {
    case 'instant':
      return {
        path: 'query',
        timeoutMs: longest,
        pairs: [
          ['query', restricted(question.query, also, names)],
          ['time', seconds(question.time)],
          ...timed,
        ],
      };
    case 'range': {
      const { query, start, end, step } = question;
      return {
        path: 'query_range',
        timeoutMs: longest,
        pairs: [
          ['query', restricted(query, also, names)],
          ...window(start, end),
          ['step', milliseconds(step)],
          unaligned,
          ...timed,
        ],
      };
    }
    case 'series':
      return {
        path: 'series',
        timeoutMs: longest,
        pairs: [
          ...printed(matcherSets(question.matchers, also), names),
          ...window(question.start, question.end),
        ],
      };
  }
}

/** A dialect of the other side may know more than our parser, so only the length is looked at. */
function demandText(query: string): string {
  if (query === '') {
    throw queryError(
      'bad_data',
      'invalid parameter "query": 1:1: parse error: no expression found in input',
    );
  }
  if (Buffer.byteLength(query) > longestQuery) {
    throw queryError(
      'bad_data',
      `invalid parameter "query": 1:1: parse error: the query is longer than ${longestQuery} bytes`,
    );
  }
  return query;
}

const printed = (sets: readonly (readonly Matcher[])[], names: DeviceNameTable): Pairs =>
  sets.map(
    (matchers) => ['match[]', `{${names.foreign(matchers).map(printMatcher).join(',')}}`] as const,
  );

function lookback(parameters: Parameters): Pairs {
  const asked = parameters.durationIf('lookback_delta');
  return asked === undefined ? [] : [['lookback_delta', milliseconds(asked)]];
}

/** VictoriaMetrics would move start and end to multiples of the step; others know no such parameter. */
const unaligned = ['nocache', '1'] as const;

const window = (start: number, end: number): Pairs => [
  ['start', seconds(start)],
  ['end', seconds(end)],
];

const optionalWindow = (parameters: Parameters): Pairs =>
  (['start', 'end'] as const).flatMap((name) =>
    parameters.text(name) === '' ? [] : [[name, seconds(parameters.timeOr(name, 0))] as const],
  );

const seconds = (ms: number): string => (ms / 1000).toFixed(3);
const milliseconds = (ms: number): string => `${Math.max(1, Math.round(ms))}ms`;

/**
 * The query with these matchers in each of its selectors, and ids in place of names of devices, for a
 * back end that knows neither who asks nor what devices are called. Any other query stays as it is,
 * in whatever dialect.
 */
function restricted(query: string, also: readonly Matcher[], names: DeviceNameTable): string {
  if (also.length > 0) {
    return print(
      withMatchers(parse(query), (matchers) => [...names.foreign(matchers), ...also], true),
    );
  }
  return !names.isEmpty && mayNameDevice.test(query) ? withIds(query, names) : query;
}

const mayNameDevice = /\bdevice\s*=/;

/** A query that our parser does not understand is for the other side to judge. */
function withIds(query: string, names: DeviceNameTable): string {
  const expr = parsed(query);
  const isNamed =
    expr !== undefined &&
    selectorsOf(expr).some(({ matchers }) =>
      names.foreign(matchers).some((one, at) => one !== matchers[at]),
    );
  return isNamed ? print(withMatchers(expr, (matchers) => names.foreign(matchers), false)) : query;
}

function parsed(query: string): Expr | undefined {
  try {
    return parse(query);
  } catch (error) {
    if (isSvcError(error)) {
      return undefined;
    }
    throw error;
  }
}

type Rewrite = (matchers: readonly Matcher[]) => readonly Matcher[];

function withMatchers(expr: Expr, rewrite: Rewrite, isNarrowed: boolean): Expr {
  const inside = (part: Expr): Expr => withMatchers(part, rewrite, isNarrowed);
  switch (expr.node) {
    case 'number':
    case 'string':
      return expr;
    case 'selector':
      return { ...expr, matchers: rewrite(expr.matchers) };
    case 'matrix':
      return {
        ...expr,
        selector: { ...expr.selector, matchers: rewrite(expr.selector.matchers) },
      };
    case 'call':
      if (isNarrowed && expr.func === 'info') {
        // It reads series that no selector of the text names.
        throw queryError(
          'bad_data',
          'info() on a remote store is not available to callers who may see only some of the series',
        );
      }
      return { ...expr, args: expr.args.map(inside) };
    case 'aggregation':
      return {
        ...expr,
        expr: inside(expr.expr),
        ...(expr.param !== undefined && { param: inside(expr.param) }),
      };
    case 'binary':
      return { ...expr, left: inside(expr.left), right: inside(expr.right) };
    case 'subquery':
    case 'unary':
    case 'paren':
      return { ...expr, expr: inside(expr.expr) };
  }
}
