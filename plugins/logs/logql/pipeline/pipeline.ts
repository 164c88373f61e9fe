import { compileRegex, matcher } from 'svc/query';
import { isSvcError, messageOf } from 'svc/sdk';

import { labelFormat, lineFormat } from '../format/format-stage.ts';
import type { StageContext, StageRun } from '../lines/stage.ts';
import { decolorize, patternParser, regexpParser } from '../parsers/capture-parser.ts';
import { jsonParser, unpackParser } from '../parsers/json-parser.ts';
import { lineMatcher } from '../parsers/line-pattern.ts';
import { logfmtParser } from '../parsers/logfmt-parser.ts';
import type { LabelFilter, LabelPick, LineOp, LineText, Stage } from '../syntax/ast.ts';
import { parseError } from '../syntax/parse-error.ts';
import { printStage } from '../syntax/print.ts';
import { addressMatcher, lineHasAddress } from './ip-match.ts';
import { labelFilter } from './label-filter.ts';

export interface Pipeline {
  readonly run: StageRun;
  /** Texts that every line that passes contained when it came in: sources may leave out lines without them. */
  readonly contains: readonly string[];
}

export interface PipelineOptions {
  readonly now: () => number;
  /** The labels that matter in the end; undefined when all do. */
  readonly wanted?: ReadonlySet<string> | undefined;
}

/** Builds the stages; an error in one is reported with the stage, as a parse error. */
export function pipelineOf(stages: readonly Stage[], { now, wanted }: PipelineOptions): Pipeline {
  const needed = wantedBefore(stages, wanted);
  const contains: string[] = [];
  let raw = true;
  const runs = stages.map((stage, index) => {
    try {
      if (stage.kind === 'line') {
        const filter = lineFilter(stage.op, stage.texts);
        if (raw && filter.needs !== '') {
          contains.push(filter.needs);
        }
        return (work: { line: string }) => filter.passes(work.line);
      }
      raw &&= !['line_format', 'unpack', 'decolorize'].includes(stage.kind);
      return stageRun(stage, { now, wanted: needed[index] });
    } catch (error) {
      if (!(error instanceof Error)) {
        throw error;
      }
      throw parseError(
        `stage '${printStage(stage)}' : ${isSvcError(error) ? error.message : messageOf(error)}`,
      );
    }
  });
  return { contains, run: joined(runs) };
}

function joined(runs: readonly StageRun[]): StageRun {
  if (runs.length === 1) {
    return runs[0]!;
  }
  return (work) => {
    for (const run of runs) {
      if (!run(work)) {
        return false;
      }
    }
    return true;
  };
}

function stageRun(stage: Exclude<Stage, { kind: 'line' }>, context: StageContext): StageRun {
  switch (stage.kind) {
    case 'json':
      return jsonParser(stage.fields, context);
    case 'logfmt':
      return logfmtParser(stage, context);
    case 'regexp':
      return regexpParser(stage.text, context);
    case 'pattern':
      return patternParser(stage.text, context);
    case 'unpack':
      return unpackParser(context);
    case 'decolorize':
      return decolorize;
    case 'filter':
      return labelFilter(stage.filter);
    case 'line_format':
      return lineFormat(stage.text, context);
    case 'label_format':
      return labelFormat(stage.formats, context);
    case 'drop':
      return dropLabels(stage.labels);
    case 'keep':
      return keepPicked(stage.labels);
  }
}

/**
 * Returns, for every stage, the labels that it or a later one still reads: a parser need not store
 * others.
 */
function wantedBefore(
  stages: readonly Stage[],
  last: ReadonlySet<string> | undefined,
): (ReadonlySet<string> | undefined)[] {
  const found: (ReadonlySet<string> | undefined)[] = [];
  let wanted = last;
  for (const stage of stages.toReversed()) {
    wanted = wanted === undefined ? undefined : askedBy(stage, wanted);
    found.unshift(wanted);
  }
  return found;
}

function askedBy(stage: Stage, after: ReadonlySet<string>): ReadonlySet<string> | undefined {
  switch (stage.kind) {
    case 'line_format':
      return undefined;
    case 'label_format':
      return stage.formats.some(({ template }) => template !== undefined)
        ? undefined
        : new Set([...after, ...stage.formats.map(({ source }) => source!)]);
    case 'filter':
      return new Set([...after, ...labelsOfFilter(stage.filter)]);
    case 'drop':
    case 'keep':
      return new Set([...after, ...stage.labels.map(({ name }) => name)]);
    default:
      return after;
  }
}

export function labelsOfFilter(filter: LabelFilter): string[] {
  return 'left' in filter
    ? [...labelsOfFilter(filter.left), ...labelsOfFilter(filter.right)]
    : [filter.name];
}

type Test = (value: string) => boolean;

const testOf = ({ name, op, value }: LabelPick): Test =>
  op === undefined ? () => true : matcher(name, op, value!).matches;

/** `| drop a, b="x"`: takes these labels away, some only when their value matches. */
function dropLabels(picks: readonly LabelPick[]): StageRun {
  const tests = picks.map((pick) => [pick.name, testOf(pick)] as const);
  return (work) => {
    for (const [name, test] of tests) {
      const value = work.get(name);
      if (value !== undefined && test(value)) {
        work.remove(name);
        if (name === '__error__') {
          work.errorDetails = '';
        }
      }
    }
    return true;
  };
}

/** `| keep a, b="x"`: takes every other label away; errors stay. */
function keepPicked(picks: readonly LabelPick[]): StageRun {
  const tests = new Map<string, Test[]>();
  for (const pick of picks) {
    tests.set(pick.name, [...(tests.get(pick.name) ?? []), testOf(pick)]);
  }
  return (work) => {
    work.keepOnly((name, value) => tests.get(name)?.some((test) => test(value)) ?? false);
    return true;
  };
}

interface LineFilter {
  passes(line: string): boolean;
  /** Text that every passing line contains; empty if unknown. */
  readonly needs: string;
}

function lineFilter(op: LineOp, texts: readonly LineText[]): LineFilter {
  const tests = texts.map((text) => lineTest(op, text));
  const negative = op.startsWith('!');
  if (tests.length === 1) {
    const { test, needs } = tests[0]!;
    return negative ? { passes: (line) => !test(line), needs: '' } : { passes: test, needs };
  }
  return { passes: (line) => tests.some(({ test }) => test(line)) !== negative, needs: '' };
}

function lineTest(
  op: LineOp,
  { text, ip }: LineText,
): { test: (line: string) => boolean; needs: string } {
  if (ip) {
    const matches = addressMatcher(text);
    return { test: (line) => lineHasAddress(line, matches), needs: '' };
  }
  switch (op) {
    case '|=':
    case '!=':
      return { test: (line) => line.includes(text), needs: text };
    case '|~':
    case '!~': {
      const pattern = compileRegex(text);
      return { test: pattern.test, needs: pattern.contains ?? '' };
    }
    case '|>':
    case '!>': {
      const { test, longest } = lineMatcher(text);
      return { test, needs: longest };
    }
  }
}
