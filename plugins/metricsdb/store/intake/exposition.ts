import { isUtf8 } from 'node:buffer';

import { type SvcError } from 'svc/sdk';
import { labelsOf, parseFloatGo } from 'svc/query';

import { errors } from './errors.ts';
import { type Intake } from './intake.ts';
import { type MetadataSink } from './metadata.ts';
import { type OpenComment, openComment, openTail } from './open-metrics.ts';

/** Salt of series that are known by the text in which an exposition names them. */
const textFormat = 1;
const newline = 0x0a;
const [space, tab, hash, brace, quote, backslash] = [0x20, 0x09, 0x23, 0x7b, 0x22, 0x5c];

export interface Reading {
  /** Time of samples that carry none. */
  readonly now: number;
  /** OpenMetrics: times in seconds, exemplars, and an end that is said. */
  readonly open: boolean;
}

/**
 * Parses the text formats of exporters. A known series is found by its text alone; an invalid line
 * ends the parsing, and nothing of the body is stored.
 */
export function readExposition(
  body: Uint8Array,
  reading: Reading,
  intake: Intake,
  metadata: MetadataSink,
): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!isUtf8(text)) {
    throw errors.exposition_utf8();
  }
  const described = new Map<string, { type: string; help: string; unit: string }>();
  let number = 0;
  let ended = false;
  for (let begin = 0; begin < text.length;) {
    number++;
    const stop = text.indexOf(newline, begin);
    const end = stop === -1 ? text.length : stop;
    const from = reading.open ? begin : skipBlank(text, begin, end);
    if (ended || (reading.open && from >= end)) {
      throw wrong(number, ended ? 'there is more behind # EOF' : 'the line is empty');
    }
    if (from < end) {
      if (text[from] !== hash) {
        readSample(text, from, end, reading, intake, number);
      } else if (reading.open) {
        const comment = inLine(number, () => openComment(text.toString('utf8', from, end)));
        ended = comment === undefined;
        note(comment, described);
      } else {
        note(commentIn(text.toString('utf8', from, end)), described);
      }
    }
    begin = end + 1;
  }
  if (reading.open && !ended) {
    throw wrong(number, 'the text does not end with # EOF');
  }
  for (const [metric, found] of described) {
    metadata.note(metric, found);
  }
}

function commentIn(line: string): Partial<OpenComment> {
  const [, word, metric, text] =
    /^#[ \t]+(HELP|TYPE|UNIT)[ \t]+("(?:[^"\\]|\\.)*"|\S+)[ \t]?(.*?)\r?$/.exec(line) ?? [];
  return word === undefined
    ? {}
    : { word: word as OpenComment['word'], metric: metric!, text: text! };
}

function note(
  comment: Partial<OpenComment> | undefined,
  described: Map<string, { type: string; help: string; unit: string }>,
): void {
  const { word, metric: named, text: rest } = comment ?? {};
  if (word === undefined) {
    return;
  }
  const metric = named!.startsWith('"') ? unescaped(named!.slice(1, -1)) : named!;
  const found = described.get(metric) ?? { type: 'unknown', help: '', unit: '' };
  described.set(metric, found);
  if (word === 'HELP') {
    found.help = rest!.replaceAll(/\\(\\|n)/g, (_, char) => (char === 'n' ? '\n' : '\\'));
  } else if (word === 'TYPE') {
    found.type = rest!.trim() === 'untyped' ? 'unknown' : rest!.trim();
  } else {
    found.unit = rest!.trim();
  }
}

function readSample(
  text: Buffer,
  from: number,
  end: number,
  { now, open }: Reading,
  intake: Intake,
  line: number,
): void {
  const stop = endOfSeries(text, from, end);
  if (stop === -1) {
    throw wrong(line, 'the labels do not end');
  }
  let slot = intake.seriesOfText(text, from, stop, textFormat);
  if (slot === -1) {
    slot = intake.seriesOf(pairsOf(text.toString('utf8', from, stop), line, open));
    if (slot !== -1) {
      intake.remember(text, from, stop, textFormat, slot);
    }
  }
  if (open) {
    const {
      value,
      time = now,
      exemplar,
    } = inLine(line, () => openTail(text.toString('utf8', stop, end)));
    intake.sample(slot, time, value, false);
    if (exemplar !== undefined) {
      intake.exemplar(slot, {
        labels: labelsOf(pairsOf(exemplar.labels, line, open, true)),
        time: exemplar.time ?? time,
        value: exemplar.value,
      });
    }
    return;
  }
  const rest = text.toString('latin1', stop, end).trim();
  const words = rest.split(/[ \t]+/);
  const value = parseFloatGo(words[0]!);
  if (value === undefined || words.length > 2) {
    throw wrong(line, `"${rest.slice(0, 60)}" is not a value`);
  }
  intake.sample(slot, words[1] === undefined ? now : timeOf(words[1], line), value, false);
}

/** Runs `read`, adding the line number to any error. */
function inLine<T>(number: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RangeError ? wrong(number, error.message) : error;
  }
}

function timeOf(word: string, line: number): number {
  const time = Number(word);
  if (!Number.isSafeInteger(time)) {
    throw wrong(line, `"${word.slice(0, 40)}" is not a time in milliseconds`);
  }
  return time;
}

/** Returns the end of name and labels, or -1. */
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

const plainName = /^[a-zA-Z_:][\w:]*$/;
/** A label, or in quotes and without a value the name of the metric. */
const label =
  /[ \t]*(?:([a-zA-Z_]\w*)|"((?:[^"\\]|\\.)*)")[ \t]*(?:=[ \t]*"((?:[^"\\]|\\.)*)")?[ \t]*(,|$)/y;

/** The same as OpenMetrics has it: a blank stands behind a comma only, where some writers put one. */
const tightLabel = /(?:([a-zA-Z_]\w*)|"((?:[^"\\]|\\.)*)")(?:="((?:[^"\\]|\\.)*)")?(, ?|$)/y;

function pairsOf(
  series: string,
  line: number,
  tight: boolean,
  nameless = false,
): [string, string][] {
  const open = series.indexOf('{');
  const before = open === -1 ? series : series.slice(0, open);
  const name = tight ? before : before.trimEnd();
  if (name !== '' && !plainName.test(name)) {
    throw wrong(
      line,
      `"${name.slice(0, 40)}" is not a plain name; put other names in quotes within the braces`,
    );
  }
  const pairs: [string, string][] = name === '' ? [] : [['__name__', name]];
  const inner =
    open === -1 ? '' : tight ? series.slice(open + 1, -1) : series.slice(open + 1, -1).trimEnd();
  const form = tight ? tightLabel : label;
  for (let at = 0; at < inner.length; at = form.lastIndex) {
    form.lastIndex = at;
    const [found, plain, quotedName, value] = form.exec(inner) ?? [];
    const isMetric =
      value === undefined &&
      quotedName !== undefined &&
      !pairs.some(([known]) => known === '__name__');
    if (found === undefined || (value === undefined && !isMetric)) {
      throw wrong(line, `"${inner.slice(at, at + 40)}" is not a label`);
    }
    pairs.push(
      isMetric
        ? ['__name__', unescaped(quotedName)]
        : [plain ?? unescaped(quotedName!), unescaped(value!)],
    );
  }
  if (tight && !nameless && !pairs.some(([known]) => known === '__name__')) {
    throw wrong(line, 'the metric has no name');
  }
  return pairs;
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (whole, char) =>
    char === 'n' ? '\n' : char === '"' || char === '\\' ? char : whole,
  );

function skipBlank(text: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (text[at] === space || text[at] === tab || text[at] === 0x0d)) {
    at++;
  }
  return at;
}

const wrong = (line: number, what: string): SvcError => errors.exposition_line({ line, what });
