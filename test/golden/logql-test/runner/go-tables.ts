import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Labels } from 'svc/query';
import { messageOf } from 'svc/sdk';

import { layOut, parse } from '../../../../plugins/logs/logql/index.ts';
import { WorkingLine } from '../../../../plugins/logs/logql/lines/working-line.ts';
import { pipelineOf } from '../../../../plugins/logs/logql/pipeline/pipeline.ts';
import type { Stage } from '../../../../plugins/logs/logql/syntax/ast.ts';
import { fieldsOf, functionBody, type GoField, type GoValue, tableOf } from '../../go-literals.ts';
import { flat } from './engine.ts';
import type { Pair } from './script.ts';

export interface Judged {
  readonly name: string;
  /** Failure; absent if it passed. */
  readonly wrong?: string;
}

interface StageCase {
  readonly name: string;
  readonly stages: readonly Stage[];
  readonly line: string;
  readonly ms?: number;
  readonly ns?: number;
  readonly labels: readonly Pair[];
  readonly metadata: readonly Pair[];
  readonly wanted?: ReadonlySet<string>;
  readonly expected: { readonly labels: readonly Pair[]; readonly line?: string };
}

/** The tables of Loki's tests of single stages. What a parser says of a broken line in detail is not compared: its own words. */
export function stageTables(loki: string): Judged[] {
  const parsers = readFileSync(join(loki, 'pkg/logql/log/parser_test.go'), 'utf8');
  const formats = readFileSync(join(loki, 'pkg/logql/log/fmt_test.go'), 'utf8');
  const cases: StageCase[] = [
    ...parserCases(parsers, 'Test_jsonParser_Parse', () => ({ kind: 'json', fields: [] })),
    ...parserCases(
      parsers,
      'TestJSONExpressionParser',
      (row) => ({ kind: 'json', fields: extractions(row[2]!) }),
      1,
    ),
    ...parserCases(parsers, 'TestLogfmtParser_parse', () => ({
      kind: 'logfmt',
      strict: false,
      keepEmpty: false,
      fields: [],
    })),
    ...parserCases(
      parsers,
      'TestLogfmtExpressionParser',
      (row) => ({ kind: 'logfmt', strict: false, keepEmpty: false, fields: extractions(row[2]!) }),
      1,
    ),
    ...parserCases(parsers, 'Test_unpackParser_Parse', () => ({ kind: 'unpack' })),
    ...regexpCases(parsers),
    ...patternCases(parsers),
    ...lineFormatCases(formats),
    ...labelFormatCases(formats),
  ];
  return cases.map(judged);
}

function judged({
  name,
  stages,
  line,
  ms = 0,
  ns = 0,
  labels,
  metadata,
  wanted,
  expected,
}: StageCase): Judged {
  try {
    const work = new WorkingLine();
    work.start(line, ms, ns, flat(labels), metadata.length === 0 ? undefined : flat(metadata));
    pipelineOf(stages, { now: () => 1e12, wanted }).run(work);
    const found = JSON.stringify(withoutDetails(work.flat()));
    const want = JSON.stringify(withoutDetails(flat(expected.labels)));
    if (found !== want) {
      return { name, wrong: `${found} instead of ${want}` };
    }
    return expected.line === undefined || expected.line === work.line
      ? { name }
      : { name, wrong: `the line ${work.line} instead of ${expected.line}` };
  } catch (error) {
    return { name, wrong: messageOf(error) };
  }
}

const silent = new Set(['__error_details__', '__preserve_error__']);

const withoutDetails = (labels: Labels): string[][] =>
  labels.flatMap((name, index) =>
    index % 2 === 0 && !silent.has(name) ? [[name, labels[index + 1]!]] : [],
  );

/** Rows of name, line, … labels, wanted labels, …, hints, metadata; `extra` columns stand between the line and the labels. */
function parserCases(
  source: string,
  table: string,
  stage: (row: readonly GoValue[]) => Stage,
  extra = 0,
): StageCase[] {
  const fixed = /testLine := \[\]byte\(`([^`]*)`\)/.exec(functionBody(source, table))?.[1] ?? '';
  return tableOf(source, table).map((fields) => {
    const row = fields.map(({ value }) => value);
    const hints = row.find(
      (value) => typeof value === 'object' && 'call' in value && value.call === 'NewParserHint',
    );
    const line = bytes(row[1]!) ?? fixed;
    const unpacked = table.includes('unpack') ? { line: bytes(row[4]!)! } : {};
    return {
      name: `${table}: ${textOf(row[0]!)}`,
      stages: [stage(row)],
      line,
      labels: pairs(row[2 + extra]!),
      metadata: mapped(row.at(-1)!),
      ...hinted(hints),
      expected: { labels: pairs(row[3 + extra]!), ...unpacked },
    };
  });
}

/** Returns the labels that a query which groups or unwraps needs. */
function hinted(hints: GoValue | undefined): { wanted?: ReadonlySet<string> } {
  if (typeof hints !== 'object' || !('args' in hints)) {
    return {};
  }
  const [labels, groups, , , unwrap] = hints.args;
  const names = [labels!, groups!].flatMap((list) =>
    fieldsOf(list).map(({ value }) => textOf(value)),
  );
  return {
    wanted: new Set([...names, ...(typeof unwrap === 'string' && unwrap !== '' ? [unwrap] : [])]),
  };
}

const regexpCases = (source: string): StageCase[] =>
  tableOf(source, 'Test_regexpParser_Parse').map((fields) => {
    const [name, parser, line, labels, want, metadata] = fields.map(({ value }) => value);
    return {
      name: `Test_regexpParser_Parse: ${textOf(name!)}`,
      stages: [{ kind: 'regexp', text: firstText(parser!) }],
      line: bytes(line!)!,
      labels: pairs(labels!),
      metadata: mapped(metadata!),
      expected: { labels: pairs(want!) },
    };
  });

const patternCases = (source: string): StageCase[] =>
  tableOf(source, 'Test_PatternParser').map((fields) => {
    const [text, line, labels, want, metadata] = fields.map(({ value }) => value);
    return {
      name: `Test_PatternParser: ${textOf(text!)}`,
      stages: [{ kind: 'pattern', text: textOf(text!) }],
      line: bytes(line!)!,
      labels: pairs(labels!),
      metadata: mapped(metadata!),
      expected: { labels: pairs(want!) },
    };
  });

const lineFormatCases = (source: string): StageCase[] =>
  tableOf(source, 'Test_lineFormatter_Format').map((fields) => {
    const [name, formatter, labels, at, line, want, given] = fields.map(({ value }) => value);
    const ns = typeof at === 'number' ? at : 0;
    return {
      name: `Test_lineFormatter_Format: ${textOf(name!)}`,
      stages: [{ kind: 'line_format', text: firstText(formatter!) }],
      line: bytes(given!) ?? '',
      ms: Math.floor(ns / 1e6),
      ns: ns % 1e6,
      labels: pairs(labels!),
      metadata: [],
      expected: { labels: pairs(want!), line: bytes(line!) ?? '' },
    };
  });

/** All of them see this line, at this time. */
const formatted = { line: 'test line', ms: 1_661_518_453_244, ns: 672_570 };

function labelFormatCases(source: string): StageCase[] {
  const body = functionBody(source, 'Test_labelsFormatter_Format');
  const times = new Map(
    [...body.matchAll(/(epoch\w+) := time\.(\w+)\(([^)]*)\)/g)].map(([, name, unit, args]) => [
      `${name!}.String`,
      goTime(unit!, args!),
    ]),
  );
  return tableOf(source, 'Test_labelsFormatter_Format').map((fields) => {
    const [name, formatter, labels, want] = fields.map(({ value }) => value);
    const formats = fieldsOf((formatter as { args: readonly GoValue[] }).args[0]!).map(
      ({ value }) => {
        const { call, args } = value as { call: string; args: readonly string[] };
        return call === 'NewRenameLabelFmt'
          ? { name: args[0]!, source: args[1]! }
          : { name: args[0]!, template: args[1]! };
      },
    );
    return {
      name: `Test_labelsFormatter_Format: ${textOf(name!)}`,
      stages: [{ kind: 'label_format', formats }],
      ...formatted,
      labels: pairs(labels!),
      metadata: [],
      expected: { labels: pairs(want!, times) },
    };
  });
}

/** A time of Go as its `String` says it, in the zone of this machine, which tests run in. */
function goTime(unit: string, args: string): string {
  const numbers = args
    .split(',')
    .map((text) => text.split('*').reduce((product, factor) => product * Number(factor), 1));
  const ms =
    unit === 'Unix'
      ? numbers[0]! * 1_000 + numbers[1]! / 1e6
      : unit === 'UnixMilli'
        ? numbers[0]!
        : numbers[0]! / 1_000;
  const fraction =
    unit === 'UnixMicro' && numbers[0]! % 1e6 !== 0
      ? `.${String(numbers[0]! % 1e6)
          .padStart(6, '0')
          .replace(/0+$/, '')}`
      : '';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}${fraction} +0000 UTC`;
}

function extractions(list: GoValue): { name: string; expression: string }[] {
  return fieldsOf(list).map(({ value }) => {
    const [name, expression] = (value as { args: readonly string[] }).args;
    return { name: name!, expression: expression! };
  });
}

/** The text in `[]byte("…")`; undefined where it is a variable or nothing. */
function bytes(value: GoValue): string | undefined {
  if (typeof value !== 'object') {
    return undefined;
  }
  if ('call' in value && value.call === '[]byte') {
    return typeof value.args[0] === 'string' ? value.args[0] : undefined;
  }
  return 'fields' in value ? '' : undefined;
}

/** `labels.FromStrings("a", "b", …)` */
function pairs(value: GoValue, words: ReadonlyMap<string, string> = new Map()): Pair[] {
  const args =
    typeof value === 'object' && 'args' in value ? value.args.map((one) => textOf(one, words)) : [];
  return args.flatMap((name, index): Pair[] => (index % 2 === 0 ? [[name, args[index + 1]!]] : []));
}

const textOf = (value: GoValue, words: ReadonlyMap<string, string> = new Map()): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'object' && 'call' in value
      ? (words.get(value.call) ?? value.call)
      : typeof value === 'object' && 'name' in value
        ? (constants[value.name] ?? value.name)
        : JSON.stringify(value);

const constants: Readonly<Record<string, string>> = {
  'logqlmodel.ErrorLabel': '__error__',
  'logqlmodel.PreserveErrorLabel': '__preserve_error__',
  errJSON: 'JSONParserErr',
  errLogfmt: 'LogfmtParserErr',
};

const mapped = (value: GoValue): Pair[] =>
  fieldsOf(value).map(({ key, value: text }: GoField): Pair => [textOf(key!), textOf(text)]);

function firstText(value: GoValue): string {
  if (typeof value === 'string') {
    return value;
  }
  return typeof value === 'object' && 'args' in value ? firstText(value.args[0]!) : '';
}

/** Line width of Loki's formatter tests. */
const width = 20;

/** The cases of Loki's own tests of `format_query`. */
export function formats(loki: string): Judged[] {
  const source = readFileSync(join(loki, 'pkg/logql/syntax/prettier_test.go'), 'utf8');
  const cases = [
    ...source.matchAll(/name:\s*"([^"]*)",[^\n]*\n\s*in:\s*`([^`]*)`,\s*exp:\s*`([^`]*)`/g),
  ];
  return cases.map(([, name, query, wanted]) => {
    try {
      const found = layOut(parse(query!), width);
      return found === wanted
        ? { name: `format: ${name!}` }
        : { name: `format: ${name!}`, wrong: `\n${found}\ninstead of\n${wanted!}` };
    } catch (error) {
      return { name: `format: ${name!}`, wrong: messageOf(error) };
    }
  });
}
