import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from 'svc/sdk';

import { parse } from '../../../plugins/traces/traceql/index.ts';
import { compilePipeline, runOver } from '../../../plugins/traces/traceql/search/pipeline.ts';
import type { Attribute, Span, Value } from '../../../plugins/traces/traceql/spans/span.ts';
import { TraceView } from '../../../plugins/traces/traceql/spans/trace-view.ts';
import { spanOf } from '../../plugins/traces/spans.ts';
import {
  fieldsOf,
  functionBody,
  type GoField,
  type GoValue,
  literalAt,
  tableOf,
} from '../go-literals.ts';
import { elements, named } from './go-trace.ts';

export interface Judged {
  readonly table: string;
  readonly query: string;
  /** Failure; absent if it passed. */
  readonly wrong?: string;
  /** Why it was not asked for. */
  readonly reason?: string;
}

interface Case {
  readonly query: string;
  readonly input: readonly GoValue[];
  readonly output: readonly GoValue[];
}

/** Tables in ast_execute_test.go of queries with input and output spansets. */
const evaluated = [
  'TestGroup',
  'TestCoalesce',
  'TestSpansetOperationEvaluate',
  'TestSpansetOperationEvaluateArray',
  'TestSpansetOperationEvaluateArraySymmetric',
  'TestScalarFilterEvaluate',
  'TestBinaryOperationsWorkAcrossNumberTypes',
  'TestArithmetic',
];
/** Tests with one span, which the query matches or not. */
const matched = ['TestSpansetFilter_matches', 'TestSpansetExistence'];

/** The texts in the tables of parse_test.go that have an error. Those without one are only read there, and their types not looked at. */
export function goRefusals(tempo: string): Judged[] {
  const source = readFileSync(join(tempo, 'pkg/traceql/parse_test.go'), 'utf8');
  const tables = [...source.matchAll(/^func (Test\w+)\(/gm)]
    .map(([, name]) => name!)
    .filter((name) => /\[\]struct \{\s*in +string\s+err/.test(functionBody(source, name)));
  return tables.flatMap((table) =>
    tableOf(source, table).flatMap((fields): Judged[] => {
      const query = named(fields, 'in');
      return typeof query !== 'string' || named(fields, 'err') === undefined
        ? []
        : [{ table, query, ...(refusal(query) === undefined && { wrong: 'taken' }) }];
    }),
  );
}

function refusal(query: string): string | undefined {
  try {
    parse(query);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Runs the tables of Tempo's tests of its evaluator over the same spans; which spans are in which spanset is compared. */
export function goEvaluations(tempo: string): Judged[] {
  const execute = readFileSync(join(tempo, 'pkg/traceql/ast_execute_test.go'), 'utf8');
  const ast = readFileSync(join(tempo, 'pkg/traceql/ast_test.go'), 'utf8');
  return [
    ...evaluated.flatMap((table) =>
      judgedAll(
        table,
        literalAt(functionBody(execute, table), /testCases := \[\]evalTC\{/).map(({ value }) =>
          caseOf(fieldsOf(value)),
        ),
      ),
    ),
    ...matched.flatMap((table) => judgedAll(table, tableOf(execute, table).map(matching))),
    ...['TestPipelineEvaluate', 'TestSpansetFilterEvaluate'].flatMap((table) =>
      judgedAll(table, tableOf(ast, table).map(caseOf)),
    ),
  ];
}

const judgedAll = (table: string, cases: readonly Case[]): Judged[] =>
  cases.map((one) => {
    const reason = reasonOf(table, one.query);
    return { table, query: one.query, ...(reason === undefined ? judged(one) : { reason }) };
  });

/** Why a row is not asked for. */
function reasonOf(table: string, query: string): string | undefined {
  if (table.startsWith('TestSpansetOperationEvaluateArray') && /!=|!~/.test(query)) {
    return 'of arrays, != and !~ hold where no element matches, as in Tempo 3';
  }
  if (/[=!]~ \./.test(query)) {
    return 'what stands behind =~ is a literal, as in Tempo 3';
  }
  if (
    [
      '{ } | coalesce()',
      '{ } !< { .child }',
      '{ } !<< { .child }',
      '{ } &< { } &< { } &< { }',
    ].includes(query)
  ) {
    return 'its spans have numbers that those of no trace have';
  }
  return undefined;
}

function judged({ query, input, output }: Case): { readonly wrong?: string } {
  try {
    const run = compilePipeline(parse(query).stages);
    const found = input.flatMap((spanset) => {
      const spans = spansIn(spanset);
      return spans.length === 0
        ? []
        : runOver(viewOf(spans), run).map(({ members }) =>
            members
              .filter((member) => member < spans.length)
              .map((member) => JSON.stringify(spans[member]))
              .sort(),
          );
    });
    const wanted = output.map((spanset) =>
      spansIn(spanset)
        .map((span) => JSON.stringify(span))
        .sort(),
    );
    const [got, want] = [found, wanted].map((spansets) =>
      spansets.map((spanset) => spanset.join('\n')).sort(),
    );
    return JSON.stringify(got) === JSON.stringify(want)
      ? {}
      : { wrong: `spansets of ${sizes(found)} spans instead of ${sizes(wanted)}` };
  } catch (error) {
    return { wrong: messageOf(error) };
  }
}

const sizes = (spansets: readonly (readonly string[])[]): string =>
  JSON.stringify(spansets.map(({ length }) => length));

/** Fields by their names, or in this order. */
function caseOf(fields: readonly GoField[]): Case {
  const [query, input, output] = ['query', 'input', 'output'].map(
    (name, at) => named(fields, name) ?? fields[at]!.value,
  );
  return { query: query as string, input: elements(input), output: elements(output) };
}

function matching(fields: readonly GoField[]): Case {
  const input: GoValue = {
    type: '',
    fields: [
      { key: { name: 'Spans' }, value: { type: '', fields: [{ value: named(fields, 'span')! }] } },
    ],
  };
  const matches = named(fields, 'matches');
  const isMatch = typeof matches === 'object' && 'name' in matches && matches.name === 'true';
  return {
    query: named(fields, 'query') as string,
    input: [input],
    output: isMatch ? [input] : [],
  };
}

const spansIn = (spanset: GoValue): readonly GoValue[] =>
  elements(named(fieldsOf(spanset), 'Spans') ?? { type: '', fields: [] });

interface Mock {
  readonly attributes: readonly (readonly [GoValue, GoValue])[];
  readonly durationNs: number;
  readonly left: number;
  readonly parent: number;
}

/** Parents that the test only knows by their numbers come last. */
function viewOf(spans: readonly GoValue[]): TraceView {
  const mocks = spans.map(mockOf);
  const id = (index: number): string => (index + 1).toString(16).padStart(16, '0');
  const absent = new Set(
    mocks.flatMap(({ parent }) =>
      parent <= 0 || mocks.some(({ left }) => left === parent) ? [] : [parent],
    ),
  );
  const own = mocks.map((mock, index) => {
    const parent = mock.parent <= 0 ? -1 : mocks.findIndex(({ left }) => left === mock.parent);
    const parentId = mock.parent <= 0 ? '' : id(parent < 0 ? spans.length + mock.parent : parent);
    return spanLike(mock, {
      ...spanOf({ id: id(index), parent: parentId, name: '' }),
      durationNs: mock.durationNs,
    });
  });
  return new TraceView({
    traceId: '1'.padStart(32, '0'),
    spans: [
      ...own,
      ...[...absent].map((left) => spanOf({ id: id(spans.length + left), name: '' })),
    ],
  });
}

/** `&mockSpan{…}`, or `newMockSpan(…).With…(…)`. */
function mockOf(value: GoValue): Mock {
  if (typeof value === 'object' && 'call' in value && value.call.startsWith('.With')) {
    const [inner, ...args] = value.args;
    const mock = mockOf(inner!);
    switch (value.call) {
      case '.WithDuration':
        return { ...mock, durationNs: numberOf(args[0]!) };
      case '.WithNestedSetInfo':
        return { ...mock, parent: numberOf(args[0]!), left: numberOf(args[1]!) };
      case '.WithStartTime':
        return mock;
      default: {
        const kind = value.call.includes('Span') ? 'NewScopedAttribute' : 'NewAttribute';
        const key: GoValue = {
          call: kind,
          args:
            kind === 'NewAttribute'
              ? [args[0]!]
              : [{ name: 'AttributeScopeSpan' }, { name: 'false' }, args[0]!],
        };
        return {
          ...mock,
          attributes: [...mock.attributes, [key, { call: 'static', args: [args[1]!] }]],
        };
      }
    }
  }
  const fields = fieldsOf(value);
  const attributes = fieldsOf(named(fields, 'attributes') ?? { type: '', fields: [] }).map(
    ({ key, value: one }) => [key!, one] as const,
  );
  const duration = named(fields, 'durationNanos');
  return {
    attributes,
    durationNs: duration === undefined ? 0 : numberOf(duration),
    left: 0,
    parent: 0,
  };
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

function spanLike({ attributes }: Mock, plain: Span): Span {
  const span: Writable<Span> = { ...plain };
  const lists: Record<string, Attribute[]> = {
    span: [],
    resource: [],
    event: [],
    link: [],
    instrumentation: [],
  };
  for (const [key, value] of attributes) {
    if (typeof key !== 'object' || !('args' in key)) {
      throw new Error(`cannot read the attribute ${JSON.stringify(key)}`);
    }
    if (key.call === 'NewIntrinsic') {
      setIntrinsic(span, nameOf(key.args[0]!), staticOf(value));
    } else {
      const scope =
        key.call === 'NewAttribute'
          ? 'span'
          : nameOf(key.args[0]!).replace('AttributeScope', '').toLowerCase();
      (lists[scope] ?? lists['span']!).push({
        key: key.args.at(-1) as string,
        value: staticOf(value),
      });
    }
  }
  const around = (list: readonly Attribute[]) => (list.length === 0 ? [] : [{ attributes: list }]);
  return {
    ...span,
    attributes: lists['span']!,
    resource: lists['resource']!,
    events: around(lists['event']!).map((event) => ({ name: '', sinceStart: 0, ...event })),
    links: around(lists['link']!).map((link) => ({
      traceId: '',
      spanId: '',
      traceState: '',
      ...link,
    })),
    scope: { name: '', version: '', attributes: lists['instrumentation']! },
  };
}

function setIntrinsic(span: Writable<Span>, name: string, value: Value): void {
  const plain = 'value' in value ? value.value : undefined;
  switch (name) {
    case 'IntrinsicDuration':
      span.durationNs = Number(plain);
      return;
    case 'IntrinsicName':
      span.name = String(plain);
      return;
    case 'IntrinsicStatus':
      span.status = Number(plain);
      return;
    case 'IntrinsicKind':
      span.kind = Number(plain);
      return;
    default:
      throw new Error(`a span has no ${name} of its own`);
  }
}

/** `NewStaticInt(1)`, or a value that a builder was given. */
function staticOf(value: GoValue): Value {
  if (typeof value !== 'object' || !('call' in value)) {
    throw new Error(`cannot read the value ${JSON.stringify(value)}`);
  }
  const [only] = value.args;
  const list = (make: (one: GoValue) => Value): Value => ({
    type: 'array',
    values: only === undefined ? [] : elements(only).map(make),
  });
  switch (value.call) {
    case 'NewStaticInt':
      return { type: 'int', value: numberOf(only!) };
    case 'NewStaticFloat':
      return { type: 'float', value: numberOf(only!) };
    case 'NewStaticDuration':
      return { type: 'duration', value: numberOf(only!) };
    case 'NewStaticStatus':
      return {
        type: 'int',
        value: ['StatusUnset', 'StatusOk', 'StatusError'].indexOf(nameOf(only!)),
      };
    case 'NewStaticKind':
      return {
        type: 'int',
        value: [
          'KindUnspecified',
          'KindInternal',
          'KindServer',
          'KindClient',
          'KindProducer',
          'KindConsumer',
        ].indexOf(nameOf(only!)),
      };
    case 'NewStaticIntArray':
      return list((one) => ({ type: 'int', value: numberOf(one) }));
    case 'NewStaticFloatArray':
      return list((one) => ({ type: 'float', value: numberOf(one) }));
    case 'NewStaticStringArray':
    case 'NewStaticBooleanArray':
      return list(plainOf);
    default:
      return plainOf(only!);
  }
}

const plainOf = (value: GoValue): Value =>
  typeof value === 'string'
    ? { type: 'string', value }
    : typeof value === 'number'
      ? { type: 'int', value }
      : { type: 'bool', value: nameOf(value) === 'true' };

const nameOf = (value: GoValue): string =>
  typeof value === 'object' && 'name' in value ? value.name : '';

const units: Readonly<Record<string, number>> = {
  Nanosecond: 1,
  Microsecond: 1e3,
  Millisecond: 1e6,
  Second: 1e9,
  Minute: 6e10,
  Hour: 3.6e12,
};

function numberOf(value: GoValue): number {
  if (typeof value === 'number') {
    return value;
  }
  if (typeof value === 'object' && 'name' in value && value.name.startsWith('time.')) {
    return units[value.name.slice('time.'.length)]!;
  }
  if (typeof value === 'object' && 'call' in value && value.args.length === 1) {
    return numberOf(value.args[0]!);
  }
  if (typeof value === 'object' && 'call' in value && value.call === '*') {
    return numberOf(value.args[0]!) * numberOf(value.args[1]!);
  }
  throw new Error(`cannot read the number ${JSON.stringify(value)}`);
}
