/** One line of a `load` block, as often as it is repeated. */
export interface LoadedLine {
  readonly stream: readonly Pair[];
  readonly text: string;
  /** Milliseconds. */
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly metadata: readonly Pair[];
}

export type Pair = readonly [name: string, value: string];

export interface ExpectedSeries {
  readonly labels: readonly Pair[];
  /** Undefined where there is no point. */
  readonly points: readonly (number | undefined)[];
}

export type Expected =
  | {
      readonly kind: 'fail';
      readonly matches: (message: string) => boolean;
      readonly shown: string;
    }
  | { readonly kind: 'empty' }
  | { readonly kind: 'scalar'; readonly value: number }
  | {
      readonly kind: 'series';
      readonly ordered: boolean;
      readonly series: readonly ExpectedSeries[];
    };

export interface Eval {
  readonly kind: 'eval';
  readonly line: number;
  readonly query: string;
  readonly at:
    | { readonly instant: number }
    | { readonly start: number; readonly end: number; readonly step: number };
  readonly expected: Expected;
}

export type Command =
  | { readonly kind: 'clear' }
  | { readonly kind: 'load'; readonly lines: readonly LoadedLine[] }
  | Eval;

/** Reads a script of `load`, `eval` and `clear` commands, each with the indented lines below it. */
export function readScript(text: string): Command[] {
  const commands: Command[] = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length;) {
    const head = withoutRemark(lines[i]!).trim();
    const number = i + 1;
    i += 1;
    if (head === '') {
      continue;
    }
    const block: string[] = [];
    for (; i < lines.length && lines[i]!.trim() !== ''; i++) {
      const line = withoutRemark(lines[i]!);
      if (line.trim() !== '' && !/^\s/.test(line)) {
        break;
      }
      if (line.trim() !== '') {
        block.push(line.trim());
      }
    }
    commands.push(commandOf(head, block, number));
  }
  return commands;
}

function commandOf(head: string, block: readonly string[], line: number): Command {
  if (head === 'clear') {
    return { kind: 'clear' };
  }
  if (head === 'load') {
    return { kind: 'load', lines: block.map(readLoaded) };
  }
  const instant = /^eval\s+instant\s+at\s+(\S+)\s+(.+)$/.exec(head);
  const range = /^eval\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/.exec(head);
  if (instant !== null) {
    return {
      kind: 'eval',
      line,
      query: instant[2]!.trim(),
      at: { instant: milliseconds(instant[1]!) },
      expected: readExpected(block, line),
    };
  }
  if (range !== null) {
    const [start, end, step] = [range[1]!, range[2]!, range[3]!].map(milliseconds) as [
      number,
      number,
      number,
    ];
    return {
      kind: 'eval',
      line,
      query: range[4]!.trim(),
      at: { start, end, step },
      expected: readExpected(block, line),
    };
  }
  throw new Error(`line ${line}: no command: ${head}`);
}

function withoutRemark(line: string): string {
  let quote = '';
  for (const [i, character] of Array.from(line).entries()) {
    if (quote !== '') {
      quote = character === quote ? '' : quote;
    } else if (character === '"' || character === '`') {
      quote = character;
    } else if (character === '#') {
      return Array.from(line).slice(0, i).join('').trimEnd();
    }
  }
  return line;
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

function milliseconds(text: string): number {
  const parts = [...text.matchAll(/([\d.]+)(ns|us|ms|s|m|h)/g)];
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!, 0);
  return text.startsWith('-') ? -total : total;
}

const loaded =
  /^(\{[^}]*\})\s*("[^"]*"|`[^`]*`)\s*@\s*(\S+)(?:\s*\[repeat every\s+(\S+)\s+for\s+(\d+)\])?(?:\s*\[metadata\s+(.*?)\])?\s*$/;

function readLoaded(line: string): LoadedLine {
  const parts = loaded.exec(line);
  if (parts === null) {
    throw new Error(`cannot load ${line}`);
  }
  const [, stream, text, start, step = '0s', count = '1', metadata = ''] = parts;
  return {
    stream: pairs(stream!).filter(([, value]) => value !== ''),
    text: text!.slice(1, -1),
    start: milliseconds(start!),
    step: milliseconds(step),
    count: Number(count),
    metadata: [...metadata.matchAll(/(?:"([^"]*)"|([^\s"=]+))="([^"]*)"/g)].map(
      ([, quoted, plain, value]) => [quoted ?? plain!, value!],
    ),
  };
}

const pairs = (text: string): Pair[] =>
  [
    ...text.matchAll(
      /(?:"((?:\\.|[^"\\])*)"|([\p{L}_:][\p{L}\p{N}_:.]*))\s*=\s*("(?:\\.|[^"\\])*"|`[^`]*`)/gu,
    ),
  ].map(([, quoted, plain, value]) => [
    quoted ?? plain!,
    value!.startsWith('`') ? value!.slice(1, -1) : unescaped(value!),
  ]);

const unescaped = (quoted: string): string =>
  JSON.parse(
    quoted
      .replace(/\\x([0-9a-f]{2})/gi, '\\u00$1')
      .replace(/\\'/g, "'")
      .replace(/\t/g, '\\t'),
  ) as string;

function readExpected(block: readonly string[], line: number): Expected {
  const fail = block
    .map((one) => /^expect fail(?:\s+(msg|regex):(.+))?$/.exec(one))
    .find((found) => found !== null);
  if (fail !== undefined) {
    const [, how, text = ''] = fail;
    const wanted = text.trim();
    const pattern = how === 'regex' ? new RegExp(wanted) : undefined;
    return {
      kind: 'fail',
      shown: wanted,
      matches: (message) =>
        pattern === undefined ? message.includes(wanted) : pattern.test(message),
    };
  }
  if (block.includes('expect empty')) {
    return { kind: 'empty' };
  }
  // A remark on one of Loki's ways to run a query does not concern others.
  const values = block.filter((one) => !one.startsWith('expect ') && !one.startsWith('skip '));
  const series = values.filter((one) => one.startsWith('{')).map(readSeries);
  if (series.length === 0) {
    if (values.length !== 1) {
      throw new Error(`line ${line}: nothing is expected`);
    }
    return { kind: 'scalar', value: numberOf(values[0]!) };
  }
  return { kind: 'series', ordered: block.includes('expect ordered'), series };
}

function readSeries(line: string): ExpectedSeries {
  const end = /^\{(?:[^"`}]|"(?:\\.|[^"\\])*"|`[^`]*`)*\}/.exec(line)![0].length;
  return {
    labels: pairs(line.slice(0, end)),
    points: line.slice(end).trim().split(/\s+/).flatMap(readPoints),
  };
}

function readPoints(text: string): (number | undefined)[] {
  if (text === '_') {
    return [undefined];
  }
  const repeated = /^(.+?)(?:([+-])([\d.]+))?x(\d+)$/.exec(text);
  if (repeated === null) {
    return [numberOf(text)];
  }
  const [, first, sign, by = '0', times] = repeated;
  const step = (sign === '-' ? -1 : 1) * numberOf(by);
  return Array.from({ length: Number(times) + 1 }, (_, i) => numberOf(first!) + i * step);
}

export function numberOf(text: string): number {
  return /^\+?Inf$/.test(text) ? Infinity : text === '-Inf' ? -Infinity : Number(text);
}
