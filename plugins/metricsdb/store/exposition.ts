import { SvcError } from 'svc/sdk';
import { parseFloatGo } from 'svc/query';

import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';

/** Salt of series that are known by the text in which an exposition names them. */
const textFormat = 1;
const newline = 0x0a;
const [space, tab, hash, brace, quote, backslash] = [0x20, 0x09, 0x23, 0x7b, 0x22, 0x5c];

/**
 * Reads the text format that exporters answer with. `now` is the time of samples that carry none. A series that came
 * before is found by its text alone; a line that is none ends the reading, and nothing of the body is taken.
 */
export function readExposition(body: Uint8Array, now: number, intake: Intake, metadata: MetadataSink): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length);
  const described = new Map<string, { type: string; help: string; unit: string }>();
  let number = 0;
  for (let begin = 0; begin < text.length;) {
    number++;
    const stop = text.indexOf(newline, begin);
    const end = stop === -1 ? text.length : stop;
    const from = skipBlank(text, begin, end);
    if (from < end) {
      if (text[from] === hash) {
        readComment(text.toString('utf8', from, end), described);
      } else {
        readSample(text, from, end, now, intake, number);
      }
    }
    begin = end + 1;
  }
  for (const [metric, found] of described) {
    metadata.note(metric, found);
  }
}

function readComment(line: string, described: Map<string, { type: string; help: string; unit: string }>): void {
  const [, word, metric, rest] = /^#[ \t]+(HELP|TYPE|UNIT)[ \t]+(\S+)[ \t]?(.*?)\r?$/.exec(line) ?? [];
  if (word === undefined) {
    return;
  }
  const found = described.get(metric!) ?? { type: 'unknown', help: '', unit: '' };
  described.set(metric!, found);
  if (word === 'HELP') {
    found.help = rest!.replaceAll(/\\(\\|n)/g, (_, char) => (char === 'n' ? '\n' : '\\'));
  } else if (word === 'TYPE') {
    found.type = rest!.trim() === 'untyped' ? 'unknown' : rest!.trim();
  } else {
    found.unit = rest!.trim();
  }
}

function readSample(text: Buffer, from: number, end: number, now: number, intake: Intake, line: number): void {
  const stop = endOfSeries(text, from, end);
  if (stop === -1) {
    throw wrong(line, 'the labels do not end');
  }
  let slot = intake.seriesOfText(text, from, stop, textFormat);
  if (slot === -1) {
    slot = intake.seriesOf(pairsOf(text.toString('utf8', from, stop), line));
    if (slot !== -1) {
      intake.remember(text, from, stop, textFormat, slot);
    }
  }
  const words = text
    .toString('latin1', stop, end)
    .trim()
    .split(/[ \t]+/);
  const value = parseFloatGo(words[0]!);
  if (value === undefined || words.length > 2) {
    throw wrong(line, `"${words.join(' ').slice(0, 60)}" is no value`);
  }
  const time = words[1] === undefined ? now : Number(words[1]);
  if (!Number.isSafeInteger(time)) {
    throw wrong(line, `"${words[1]!.slice(0, 40)}" is no time in milliseconds`);
  }
  intake.sample(slot, time, value, false);
}

/** Where name and labels end, or -1. */
function endOfSeries(text: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && text[at] !== brace && text[at] !== space && text[at] !== tab) {
    at++;
  }
  const opened = skipBlank(text, at, end);
  if (text[opened] !== brace || opened >= end) {
    return at;
  }
  let quoted = false;
  for (at = opened; at < end; at++) {
    if (quoted && text[at] === backslash) {
      at++;
    } else if (text[at] === quote) {
      quoted = !quoted;
    } else if (!quoted && text[at] === 0x7d) {
      return at + 1;
    }
  }
  return -1;
}

const label = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,|$)/y;

function pairsOf(series: string, line: number): [string, string][] {
  const open = series.indexOf('{');
  const pairs: [string, string][] = [['__name__', (open === -1 ? series : series.slice(0, open)).trimEnd()]];
  if (open === -1) {
    return pairs;
  }
  const inner = series.slice(open + 1, -1).trimEnd();
  for (let at = 0; at < inner.length; at = label.lastIndex) {
    label.lastIndex = at;
    const [, name, value] = label.exec(inner) ?? [];
    if (name === undefined) {
      throw wrong(line, `"${inner.slice(at, at + 40)}" is no label`);
    }
    pairs.push([name, value!.replaceAll(/\\(.)/g, (whole, char) => (char === 'n' ? '\n' : char === '"' || char === '\\' ? char : whole))]);
  }
  return pairs;
}

function skipBlank(text: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (text[at] === space || text[at] === tab || text[at] === 0x0d)) {
    at++;
  }
  return at;
}

const wrong = (line: number, what: string): SvcError => new SvcError('invalid_argument', `the exposition cannot be read: line ${line}: ${what}`);
