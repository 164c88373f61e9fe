import { parseDuration } from 'svc/query';

import { parse } from '../../../../plugins/metricsdb/promql/index.ts';
import { readNumber, readSeriesLine, type SeriesLine } from './series-line.ts';

export interface Load {
  readonly kind: 'load';
  readonly line: number;
  readonly stepMs: number;
  readonly series: readonly SeriesLine[];
  /** Each classic histogram makes a native one, too. */
  readonly nativeToo: boolean;
  /** Series whose samples carry start timestamps, which are not loaded. */
  readonly startTimestamps: boolean;
}

export interface Remark {
  readonly type: 'fail' | 'warn' | 'no_warn' | 'info' | 'no_info';
  matches(text: string): boolean;
  readonly shown: string;
}

export interface Eval {
  readonly kind: 'eval';
  readonly line: number;
  readonly expr: string;
  readonly at:
    | { readonly instant: number }
    | { readonly start: number; readonly end: number; readonly step: number };
  readonly ordered: boolean;
  readonly remarks: readonly Remark[];
  readonly scalar?: number;
  readonly text?: string;
  readonly series: readonly SeriesLine[];
  /** Times of the samples of a range vector. */
  readonly points?: { readonly start: number; readonly end: number; readonly step: number };
}

export type Command = { readonly kind: 'clear'; readonly line: number } | Load | Eval;

/** Reads a script of `load`, `eval` and `clear` commands. */
export function readScript(text: string): Command[] {
  const lines = text.split('\n').map((line) => (line.trim().startsWith('#') ? '' : line.trim()));
  const commands: Command[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (line === '') {
      continue;
    }
    const block: string[] = [];
    const first = i;
    if (!/^clear$/i.test(line)) {
      while (i + 1 < lines.length && lines[i + 1] !== '') {
        block.push(lines[++i]!);
      }
    }
    commands.push(...readCommand(line, block, first + 1));
  }
  return commands;
}

function readCommand(line: string, block: string[], number: number): Command[] {
  const word = line.split(/\s/, 1)[0]!.toLowerCase();
  if (word === 'clear') {
    return [{ kind: 'clear', line: number }];
  }
  if (word.startsWith('load')) {
    return [readLoad(line, block, number)];
  }
  if (word.startsWith('eval')) {
    const end = blockEnd(block);
    // A number ends its block; what follows without an empty line is a command of its own.
    const rest = block.slice(end);
    return [
      readEval(line, block.slice(0, end), number),
      ...(rest.length === 0 ? [] : readCommand(rest[0]!, rest.slice(1), number + end + 1)),
    ];
  }
  throw new Error(`line ${number}: no command: ${line}`);
}

function blockEnd(block: readonly string[]): number {
  const last = block.findIndex(
    (line) => isNumber(line) || /^expected_fail_(?:message|regexp)\b/.test(line),
  );
  return last === -1 ? block.length : last + 1;
}

function readLoad(line: string, block: readonly string[], number: number): Load {
  const parts = /^load(?:_with_nhcb)?\s+(.+)$/i.exec(line);
  if (parts === null) {
    throw new Error(`line ${number}: ${line}`);
  }
  const plain = block.filter((one) => !/^[^\s{]*(?:\{[^}]*\})?@st\s/.test(one));
  return {
    kind: 'load',
    line: number,
    nativeToo: /^load_with_nhcb/i.test(line),
    stepMs: parseDuration(parts[1]!),
    series: plain.map(readSeriesLine),
    startTimestamps: plain.length < block.length,
  };
}

const instantForm = /^eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(\S+))?\s+(.+)$/i;
const rangeForm =
  /^eval(?:_(fail|warn|info))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/i;

function readEval(line: string, block: readonly string[], number: number): Eval {
  const instant = instantForm.exec(line);
  const range = rangeForm.exec(line);
  const [, mode] = instant ?? range ?? [];
  if (instant === null && range === null) {
    throw new Error(`line ${number}: ${line}`);
  }
  const at =
    instant !== null
      ? { instant: parseDuration(instant[2]!) }
      : times(range![2]!, range![3]!, range![4]!);
  const expr = instant !== null ? instant[3]! : range![5]!;
  const remarks: Remark[] = [];
  const series: SeriesLine[] = [];
  let ordered = mode === 'ordered';
  let scalar: number | undefined;
  let text: string | undefined;
  let points: Eval['points'];
  if (mode === 'fail' || mode === 'warn' || mode === 'info') {
    remarks.push({ type: mode, matches: () => true, shown: 'anything' });
  }
  for (const one of block) {
    const legacy = /^expected_fail_(message|regexp)\s+(.+)$/.exec(one);
    const vector = /^expect range vector\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s*$/.exec(one);
    if (legacy !== null) {
      remarks[0] = remark('fail', legacy[1] === 'message' ? 'msg' : 'regex', legacy[2]!);
    } else if (vector !== null) {
      points = times(vector[1]!, vector[2]!, vector[3]!);
    } else if (/^expect string\b/.test(one)) {
      text = readText(one.slice('expect string'.length).trim());
    } else if (/^expect\s/.test(one)) {
      const parts =
        /^expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?$/.exec(one);
      if (parts === null) {
        throw new Error(`line ${number}: ${one}`);
      }
      if (parts[1] === 'ordered') {
        ordered = true;
      } else {
        remarks.push(remark(parts[1] as Remark['type'], parts[2], parts[3]?.trim() ?? ''));
      }
    } else if (isNumber(one)) {
      scalar = readNumber(one);
    } else {
      series.push(readSeriesLine(one));
    }
  }
  return {
    kind: 'eval',
    line: number,
    expr,
    at,
    ordered,
    remarks,
    series,
    ...(scalar !== undefined && { scalar }),
    ...(text !== undefined && { text }),
    ...(points !== undefined && { points }),
  };
}

function remark(type: Remark['type'], how: string | undefined, text: string): Remark {
  if (how === undefined) {
    return { type, shown: 'anything', matches: () => true };
  }
  const pattern = how === 'regex' ? new RegExp(text) : undefined;
  return {
    type,
    shown: text,
    matches: (actual) => (pattern === undefined ? actual === text : pattern.test(actual)),
  };
}

function times(
  start: string,
  end: string,
  step: string,
): { start: number; end: number; step: number } {
  return { start: parseDuration(start), end: parseDuration(end), step: parseDuration(step) };
}

const isNumber = (text: string): boolean =>
  /^[+-]?(?:\d[\w.+-]*|\.\d+|inf|nan)$/i.test(text) && !Number.isNaN(tryNumber(text) ?? NaN)
    ? true
    : /^[+-]?nan$/i.test(text);

function tryNumber(text: string): number | undefined {
  try {
    return readNumber(text);
  } catch {
    return undefined;
  }
}

function readText(literal: string): string {
  const expr = literal === '' ? undefined : parse(literal);
  return expr?.node === 'string' ? expr.value : '';
}
