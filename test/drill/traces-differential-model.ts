import { type Sent, startMs } from '../plugins/traces/bodies.ts';

export type Random = (below: number) => number;

/** One span: as it is sent, and what answers are worked out from. */
export interface Sketch {
  readonly sent: Sent;
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly status: number;
  readonly ms: number;
  readonly size: number | undefined;
  readonly route: string | undefined;
}

export interface Asked {
  readonly kind: 'search' | 'metrics';
  readonly query: string;
}

export interface Question extends Asked {
  /** Matched spans by trace, or values by group. */
  answer(spans: readonly Sketch[]): Map<string, number>;
}

const services = ['shop', 'cart', 'pay'];
const names = ['GET /', 'query', 'publish', 'render'];
const routes = ['/a', '/a/b', '/c'];
const hex = (random: Random, bytes: number): string =>
  Array.from({ length: bytes }, () => (random(255) + 1).toString(16).padStart(2, '0')).join('');

/** A tree of up to eight spans. */
export function traceFrom(random: Random): Sketch[] {
  const trace = hex(random, 16);
  const ids = Array.from({ length: 1 + random(8) }, () => hex(random, 8));
  return ids.map((id, at) => {
    const parent = at === 0 ? undefined : ids[random(at)];
    const [service, name] = [services[random(3)]!, names[random(4)]!];
    const [kind, status, ms] = [1 + random(5), random(3), (1 + random(4_000)) / 4];
    const size = random(3) === 0 ? undefined : random(1_000);
    const route = random(3) === 0 ? undefined : routes[random(3)]!;
    const attributes = {
      ...(size !== undefined && { size }),
      ...(route !== undefined && { route }),
    };
    const at0 = startMs + random(3_000_000);
    const sent: Sent = {
      trace,
      id,
      ...(parent !== undefined && { parent }),
      name,
      kind,
      status,
      startMs: at0,
      ms,
      attributes,
    };
    return { sent, trace, id, parent, service, name, kind, status, ms, size, route };
  });
}

type Test = (span: Sketch) => boolean;

const signs: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

function condition(random: Random, depth = 0): readonly [text: string, test: Test] {
  if (depth < 2 && random(3) === 0) {
    const [left, right] = [condition(random, depth + 1), condition(random, depth + 1)];
    return random(2) === 0
      ? [`(${left[0]} && ${right[0]})`, (span) => left[1](span) && right[1](span)]
      : [`(${left[0]} || ${right[0]})`, (span) => left[1](span) || right[1](span)];
  }
  const sign = Object.keys(signs)[random(6)]!;
  const [service, name, route, number] = [
    services[random(3)]!,
    names[random(4)]!,
    routes[random(3)]!,
    random(1_000),
  ];
  const forms: readonly (readonly [string, Test])[] = [
    [`resource.service.name = "${service}"`, (span) => span.service === service],
    [`name = "${name}"`, (span) => span.name === name],
    [`name =~ "(query|p.*)"`, (span) => span.name === 'query' || span.name === 'publish'],
    [`status = error`, ({ status }) => status === 2],
    [`kind = client`, ({ kind }) => kind === 3],
    [`duration ${sign} ${number}ms`, ({ ms }) => signs[sign]!(ms, number)],
    [`span.size ${sign} ${number}`, ({ size }) => size !== undefined && signs[sign]!(size, number)],
    [`.route = "${route}"`, (span) => span.route === route],
    [`span.route != nil`, (span) => span.route !== undefined],
  ];
  return forms[random(forms.length)]!;
}

const filter = (random: Random): readonly [text: string, test: Test] => {
  const [text, test] = condition(random);
  return random(8) === 0 ? ['{ }', () => true] : [`{ ${text} }`, test];
};

export const questionFrom = (random: Random): Question =>
  random(2) === 0 ? searchFrom(random) : metricsFrom(random);

function searchFrom(random: Random): Question {
  const [left, right] = [filter(random), filter(random)];
  const operators: readonly string[] = ['&&', '||', '>', '>>', '<', '<<', '~'];
  const operator = random(3) === 0 ? undefined : operators[random(operators.length)]!;
  const least = random(3) === 0 ? random(4) : undefined;
  const spanset = operator === undefined ? left[0] : `${left[0]} ${operator} ${right[0]}`;
  return {
    kind: 'search',
    query: least === undefined ? spanset : `${spanset} | count() > ${least}`,
    answer(spans) {
      const found = new Map<string, number>();
      for (const [trace, own] of byTrace(spans)) {
        const a = own.filter(left[1]);
        const count =
          operator === undefined ? a.length : combined(operator, own, a, own.filter(right[1])).size;
        if (count > (least ?? 0)) {
          found.set(trace, count);
        }
      }
      return found;
    },
  };
}

function combined(
  operator: string,
  own: readonly Sketch[],
  left: readonly Sketch[],
  right: readonly Sketch[],
): Set<Sketch> {
  const above = (span: Sketch): Sketch | undefined => own.find(({ id }) => id === span.parent);
  const isBelow = (span: Sketch, other: Sketch): boolean => {
    for (let up = above(span); up !== undefined; up = above(up)) {
      if (up === other) {
        return true;
      }
    }
    return false;
  };
  const keep = (related: (span: Sketch, other: Sketch) => boolean): Set<Sketch> =>
    new Set(right.filter((span) => left.some((other) => related(span, other))));
  switch (operator) {
    case '&&':
      return left.length === 0 || right.length === 0 ? new Set() : new Set([...left, ...right]);
    case '||':
      return new Set([...left, ...right]);
    case '>':
      return keep((span, other) => span.parent === other.id);
    case '>>':
      return keep(isBelow);
    case '<':
      return keep((span, other) => other.parent === span.id);
    case '<<':
      return keep((span, other) => isBelow(other, span));
    default:
      return keep(
        (span, other) =>
          span !== other && span.parent !== undefined && span.parent === other.parent,
      );
  }
}

function byTrace(spans: readonly Sketch[]): Map<string, Sketch[]> {
  const traces = new Map<string, Sketch[]>();
  for (const span of spans) {
    const own = traces.get(span.trace) ?? [];
    own.push(span);
    traces.set(span.trace, own);
  }
  return traces;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const folds: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum_over_time: total,
  avg_over_time: (values) => total(values) / values.length,
  min_over_time: (values) => Math.min(...values),
  max_over_time: (values) => Math.max(...values),
};

function metricsFrom(random: Random): Question {
  const [text, test] = filter(random);
  const groups: readonly (readonly [string, (span: Sketch) => string])[] = [
    ['', () => ''],
    [' by (resource.service.name)', ({ service }) => service],
    [' by (name)', ({ name }) => name],
    [' by (.route)', ({ route }) => route ?? 'nil'],
  ];
  const [by, keyOf] = groups[random(groups.length)]!;
  const measured = random(2) === 0;
  const names_ = Object.keys(folds);
  const fold = names_[random(names_.length)]!;
  const field = random(2) === 0 ? 'duration' : 'span.size';
  const value = (span: Sketch): number | undefined =>
    !measured ? 1 : field === 'duration' ? span.ms / 1_000 : span.size;
  return {
    kind: 'metrics',
    query: `${text} | ${measured ? `${fold}(${field})` : 'count_over_time()'}${by}`,
    answer(spans) {
      const found = new Map<string, number[]>();
      for (const span of spans) {
        const number = test(span) ? value(span) : undefined;
        if (number !== undefined) {
          const own = found.get(keyOf(span)) ?? [];
          own.push(number);
          found.set(keyOf(span), own);
        }
      }
      return new Map(
        [...found].map(([key, values]) => [key, measured ? folds[fold]!(values) : values.length]),
      );
    },
  };
}
