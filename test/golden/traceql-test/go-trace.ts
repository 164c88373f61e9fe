import { fieldsOf, type GoField, type GoValue, literalAt } from '../go-literals.ts';

/** The trace of tempodb's tests, and what they ask about it, out of their Go code. */
export const traceId = 'abcd'.repeat(8);
const terminals = '{ } ( ) = ~ ! < > & | ^';
/** Offset of all times: the spans of the tests are from 1970, which no store keeps. */
export const shiftSeconds = 1_795_200_000 - 1_000;
export const nanos = (value: number): string =>
  String(BigInt(shiftSeconds) * 1_000_000_000n + BigInt(value));

export type Plain = Readonly<Record<string, unknown>>;
type Attribute = readonly [key: string, value: Plain];

export const named = (fields: readonly GoField[], name: string): GoValue | undefined =>
  fields.find(({ key }) => typeof key === 'object' && 'name' in key && key.name === name)?.value;

/** A literal as text; what is no plain one as JSON. */
export const plainText = (value: GoValue | undefined): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value ?? '');

export const elements = (value: GoValue | undefined): readonly GoValue[] =>
  value === undefined ? [] : fieldsOf(value).map(({ value: one }) => one);

const inside = (fields: readonly GoField[], name: string): readonly GoField[] =>
  fieldsOf(named(fields, name) ?? { type: '', fields: [] });

/** `{Query: …}` and `makeReq(key, value)` alike. */
export const requests = (body: string, opening: RegExp): readonly (readonly GoField[])[] =>
  literalAt(body, opening).map(({ value }) =>
    typeof value === 'object' && 'call' in value
      ? [
          {
            key: { name: 'Tags' },
            value: { type: '', fields: [{ key: value.args[0]!, value: value.args[1]! }] },
          },
        ]
      : fieldsOf(value),
  );

export function resourceOf(value: GoValue): Plain {
  const fields = fieldsOf(value);
  return {
    resource: { attributes: attributesOf(inside(fields, 'Resource')) },
    scopeSpans: elements(named(fields, 'ScopeSpans')).map((one) => {
      const scope = inside(fieldsOf(one), 'Scope');
      const [name, version] = ['Name', 'Version'].map((field) => named(scope, field) ?? '');
      return {
        scope: { name, version, attributes: attributesOf(scope) },
        spans: elements(named(fieldsOf(one), 'Spans')).map((span) => spanOf(fieldsOf(span))),
      };
    }),
  };
}

function spanOf(fields: readonly GoField[]): Plain {
  const parent = named(fields, 'ParentSpanId');
  return {
    traceId,
    spanId: spanId(named(fields, 'SpanId')!),
    ...(parent !== undefined && { parentSpanId: spanId(parent) }),
    name: named(fields, 'Name') ?? '',
    kind:
      last(named(fields, 'Kind')) === 'CLIENT'
        ? 3
        : last(named(fields, 'Kind')) === 'PRODUCER'
          ? 4
          : 0,
    startTimeUnixNano: nanos(numberOf(named(fields, 'StartTimeUnixNano')!)),
    endTimeUnixNano: nanos(numberOf(named(fields, 'EndTimeUnixNano')!)),
    status: { code: { OK: 1, ERROR: 2 }[last(named(inside(fields, 'Status'), 'Code'))] ?? 0 },
    attributes: attributesOf(fields),
    events: elements(named(fields, 'Events')).map((event) => ({
      name: named(fieldsOf(event), 'Name'),
      timeUnixNano: nanos(numberOf(named(fieldsOf(event), 'TimeUnixNano')!)),
      attributes: attributesOf(fieldsOf(event)),
    })),
    links: elements(named(fields, 'Links')).map((link) => ({
      traceId,
      spanId: spanId(named(fieldsOf(link), 'SpanId')!),
      attributes: attributesOf(fieldsOf(link)),
    })),
  };
}

/** One of the traces around it. */
export function otherOf(at: number): Plain {
  const spans = Array.from({ length: 10 }, (_, index) => ({
    traceId: (0xffff0000 + at).toString(16).padStart(32, '1'),
    spanId: (index + 1).toString(16).padStart(16, '2'),
    name: `test ${at} ${index}`,
    startTimeUnixNano: nanos(1_000e9),
    endTimeUnixNano: nanos(1_000.5e9),
    attributes: [{ key: 'other', value: { intValue: index } }],
  }));
  return {
    resource: { attributes: [{ key: 'service.name', value: { stringValue: 'test-service' } }] },
    scopeSpans: [{ spans }],
  };
}

const attributesOf = (fields: readonly GoField[]): Plain[] =>
  pairsOf(fields).map(([key, value]) => ({ key, value }));

const pairsOf = (fields: readonly GoField[]): Attribute[] =>
  elements(named(fields, 'Attributes')).map((one) => {
    const { call, args } = one as { readonly call: string; readonly args: readonly GoValue[] };
    const key = typeof args[0] === 'string' ? args[0] : terminals;
    return [
      key,
      call === 'stringKV'
        ? { stringValue: args[1] }
        : call === 'intKV'
          ? { intValue: args[1] }
          : { boolValue: true },
    ];
  });

const last = (value: GoValue | undefined): string =>
  typeof value === 'object' && 'name' in value ? value.name.split('_').at(-1)! : '';

const spanId = (value: GoValue): string =>
  elements(value)
    .map((byte) => Number(byte).toString(16).padStart(2, '0'))
    .join('')
    .padStart(16, '0');

/** Names of the tests and their values, for one draw of their conditions. */
type Known = (name: string) => unknown;

/**
 * Returns conditions that hold or fail for each span, as the tests make them; `draw` selects one.
 */
export function conditionsOf(trace: readonly GoField[]): (draw: number) => Known {
  const spans: string[][] = [];
  const durations: number[] = [];
  const wrong = ['name=`nosuch`', 'duration>3h', 'rootServiceName=`nosuch`'];
  const ofTrace = ['traceDuration=2000ms', 'rootServiceName=`RootService`', 'rootName=`RootSpan`'];
  for (const resource of elements(named(trace, 'ResourceSpans'))) {
    const around = conditions(pairsOf(inside(fieldsOf(resource), 'Resource')), 'resource');
    wrong.push(...around.no);
    for (const span of elements(named(fieldsOf(resource), 'ScopeSpans')).flatMap((one) =>
      elements(named(fieldsOf(one), 'Spans')),
    )) {
      const fields = fieldsOf(span);
      const { yes, no } = conditions(pairsOf(fields), 'span');
      const duration =
        numberOf(named(fields, 'EndTimeUnixNano')!) - numberOf(named(fields, 'StartTimeUnixNano')!);
      const status = (last(named(inside(fields, 'Status'), 'Code')) || 'unset').toLowerCase();
      const kind = (last(named(fields, 'Kind')) || 'unspecified').toLowerCase();
      const name = `name=\`${plainText(named(fields, 'Name'))}\``;
      spans.push([
        ...yes,
        name,
        `duration=${duration}ns`,
        `status=${status}`,
        `kind=${kind}`,
        ...around.yes,
        ...ofTrace,
      ]);
      durations.push(duration);
      wrong.push(...no);
    }
  }
  return (draw) => {
    // Every condition has its turn: which one is a matter of how many were drawn before.
    let drawn = draw * 7;
    return (name) => {
      const at = Number(/\[(\d+)\]$/.exec(name)?.[1]);
      const list = name.startsWith('trueConditionsBySpan')
        ? spans[at]!
        : name === 'falseConditions'
          ? wrong
          : undefined;
      if (list !== undefined) {
        return list[(drawn++ * 5) % list.length];
      }
      return name.startsWith('durationBySpan')
        ? durations[at]
        : { totalSpans: spans.length, parentID: '0000000000040506', wantIDText: traceId }[name];
    };
  };
}

function conditions(
  pairs: readonly Attribute[],
  scope: string,
): { readonly yes: string[]; readonly no: string[] } {
  const both = (key: string, rest: string): string[] => [
    `${scope}.${key}${rest}`,
    `.${key}${rest}`,
  ];
  const of = (kind: 'yes' | 'no'): string[] =>
    pairs.flatMap(([name, value]) => {
      const key = name === terminals ? JSON.stringify(name) : name;
      if ('stringValue' in value) {
        return kind === 'yes'
          ? [...both(key, `=\`${String(value['stringValue'])}\``), ...both(key, '!=`nosuch`')]
          : both(key, '=`nosuch`');
      }
      return 'intValue' in value
        ? both(key, kind === 'yes' ? `=${String(value['intValue'])}` : '=20500')
        : kind === 'yes'
          ? both(key, '=true')
          : [];
    });
  return { yes: of('yes'), no: of('no') };
}

/** A text of the tests: a literal, or `fmt.Sprintf` over what they know. */
export function textOf(value: GoValue, known: Known): string {
  const told = evaluated(value, known);
  return typeof told === 'string' ? told : String(told);
}

function evaluated(value: GoValue, known: Known): unknown {
  if (typeof value !== 'object') {
    return value;
  }
  if ('name' in value) {
    return value.name === 'attributeWithTerminalChars'
      ? terminals
      : value.name === 'wantMeta.TraceID'
        ? traceId
        : known(value.name);
  }
  if (!('call' in value)) {
    throw new Error(`cannot evaluate ${JSON.stringify(value)}`);
  }
  const args = value.args.map((one) => evaluated(one, known));
  const numbers = args.map(Number);
  switch (value.call) {
    case 'fmt.Sprintf':
      return formatted(String(args[0]), args.slice(1));
    case 'rando':
      return args[0];
    case 'math.Min64':
      return Math.min(...numbers);
    case 'math.Max64':
      return Math.max(...numbers);
    case '+':
      return args.some((one) => typeof one === 'string')
        ? args.join('')
        : numbers[0]! + numbers[1]!;
    case '/':
      return Math.floor(numbers[0]! / numbers[1]!);
    default:
      throw new Error(`cannot evaluate ${value.call}`);
  }
}

function formatted(format: string, args: readonly unknown[]): string {
  let at = 0;
  return format.replace(/%[dsqv]/g, (verb) =>
    verb === '%q' ? JSON.stringify(args[at++]) : String(args[at++]),
  );
}

const units: Readonly<Record<string, number>> = { 'time.Second': 1e9, 'time.Millisecond': 1e6 };

export function numberOf(value: GoValue): number {
  if (typeof value === 'object' && 'call' in value) {
    const [left, right] = value.args.map(numberOf);
    return value.call === '*' ? left! * right! : value.call === '+' ? left! + right! : left!;
  }
  return typeof value === 'object' && 'name' in value ? units[value.name]! : Number(value);
}

interface Spanset {
  readonly spans: readonly Plain[];
  readonly matched: number;
  readonly attributes: readonly string[];
}

/** A spanset that is expected, and one that was answered, in one form: spans and attributes in order. */
export function spansetOf(value: GoValue): Spanset {
  const fields = fieldsOf(value);
  const pairs = (of: readonly GoField[]): string[] =>
    elements(named(of, 'Attributes')).map((one) => {
      const [only] = fieldsOf(named(inside(fieldsOf(one), 'Value'), 'Value')!);
      const plain = only!.value;
      return `${plainText(named(fieldsOf(one), 'Key'))}=${typeof plain === 'object' && 'name' in plain ? plain.name : plainText(plain)}`;
    });
  const spans = elements(named(fields, 'Spans')).map((span) => {
    const of = fieldsOf(span);
    const [start, duration] = ['StartTimeUnixNano', 'DurationNanos'].map((name) =>
      numberOf(named(of, name)!),
    );
    return {
      id: named(of, 'SpanID'),
      start: nanos(start!),
      duration: String(duration),
      name: named(of, 'Name') ?? '',
      attributes: pairs(of).sort(),
    };
  });
  return {
    spans: inOrder(spans),
    matched: Number(named(fields, 'Matched')),
    attributes: pairs(fields).sort(),
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- an answer in JSON
export function answeredSpanset({ spans, matched, attributes = [] }: any): Spanset {
  const pairs = (of: readonly { key: string; value: Plain }[] = []): string[] =>
    of.map(({ key, value }) => `${key}=${String(Object.values(value)[0])}`).sort();
  const plain = spans.map((span: Record<string, never>) => ({
    id: span['spanID'],
    start: span['startTimeUnixNano'],
    duration: span['durationNanos'],
    name: span['name'] ?? '',
    attributes: pairs(span['attributes']),
  }));
  return { spans: inOrder(plain), matched, attributes: pairs(attributes) };
}

const inOrder = (spans: readonly Plain[]): readonly Plain[] =>
  spans.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** A search by tags as the older interface has it. */
export function tagsOf(fields: readonly GoField[]): {
  readonly tags: string;
  readonly minDuration?: string;
  readonly maxDuration?: string;
} {
  const tags = inside(fields, 'Tags').map(
    ({ key, value }) => `${plainText(key)}=${JSON.stringify(value)}`,
  );
  const [least, most] = ['MinDurationMs', 'MaxDurationMs'].map((name) => named(fields, name));
  return {
    ...windowOf(fields),
    tags: tags.join(' '),
    ...(least !== undefined && { minDuration: `${Number(least)}ms` }),
    ...(most !== undefined && { maxDuration: `${Number(most)}ms` }),
  };
}

export function windowOf(fields: readonly GoField[]): {
  readonly start?: number;
  readonly end?: number;
} {
  const [start, end] = ['Start', 'End'].map((name) => named(fields, name));
  return start === undefined || end === undefined
    ? {}
    : { start: Number(start) + shiftSeconds, end: Number(end) + shiftSeconds };
}

/** The same as TraceQL, as `addTraceQL` of the tests writes it. */
export function queryOfTags(fields: readonly GoField[]): string {
  const own: Readonly<Record<string, string>> = {
    'root.service.name': '.service.name',
    'root.name': 'name',
    name: 'name',
    'status.code': 'status',
  };
  const parts = inside(fields, 'Tags').map(({ key, value }) => {
    const name = own[plainText(key)] ?? `.${plainText(key)}`;
    return `${name}=${name === '.http.status_code' || name === 'status' ? plainText(value) : JSON.stringify(value)}`;
  });
  const [most, least] = ['MaxDurationMs', 'MinDurationMs'].map((name) => named(fields, name));
  return `{${[...parts, ...(most === undefined ? [] : [`duration < ${Number(most)}ms`]), ...(least === undefined ? [] : [`duration > ${Number(least)}ms`])].join('&&')}}`;
}
