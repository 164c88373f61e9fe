import type { Duration, DurationExpr, DurationPart } from './ast.ts';
import { parseNumberOrDuration } from './literals.ts';
import type { Stream } from './token-stream.ts';

const strength: Readonly<Record<string, number>> = {
  '+': 1,
  '-': 1,
  '*': 2,
  '/': 2,
  '%': 2,
  '^': 3,
};
const signStrength = 2;
const longestSeconds = 2 ** 63 / 1e9;

/** Milliseconds as a 64-bit count of nanoseconds gives them. */
const milliseconds = (seconds: number): number => Math.trunc(Math.round(seconds * 1e9) / 1e6);

/**
 * Parses the duration of a range or a step; must be positive, as far as that is known at this
 * point.
 */
export function parsePositiveDuration(stream: Stream): Duration | undefined {
  const part = parsePart(stream, 0);
  if (part?.node === 'number' && part.value <= 0) {
    stream.fail(part.start, 'duration must be greater than 0');
  }
  return part === undefined ? undefined : durationOf(part);
}

/** Parses what follows `offset`: one signed duration; arithmetic only in parentheses. */
export function parseOffset(stream: Stream): Duration {
  const part = parseSigned(stream, Infinity);
  return part === undefined
    ? stream.unexpected('offset', 'number, duration, step(), or range()')
    : durationOf(part);
}

const durationOf = (part: DurationPart): Duration =>
  part.node === 'number' ? milliseconds(part.value) : part;

function parsePart(stream: Stream, weakest: number): DurationPart | undefined {
  let left = parseSigned(stream, weakest);
  while (left !== undefined) {
    const op = stream.peek().kind === 'operator' ? stream.peek().word : '';
    const own = strength[op] ?? 0;
    if (own === 0 || own < weakest) {
      return left;
    }
    const at = stream.take();
    const right =
      stream.nested(() => parsePart(stream, op === '^' ? own : own + 1)) ?? stream.unexpected();
    if (right.node === 'number' && right.value === 0 && (op === '/' || op === '%')) {
      stream.fail(at.start, op === '/' ? 'division by zero' : 'modulo by zero');
    }
    left = {
      node: 'duration',
      op: op as DurationExpr['op'],
      left,
      right,
      wrapped: false,
      start: left.start,
      end: right.end,
    };
  }
  return left;
}

function parseSigned(stream: Stream, weakest: number): DurationPart | undefined {
  if (!stream.is('+') && !stream.is('-')) {
    return parsePrimary(stream);
  }
  const sign = stream.take();
  const part =
    stream.nested(() =>
      weakest === Infinity ? parsePrimary(stream) : parsePart(stream, signStrength + 1),
    ) ?? stream.unexpected();
  if (part.node === 'number') {
    return { ...part, value: sign.word === '-' ? -part.value : part.value, start: sign.start };
  }
  return sign.word === '-'
    ? { node: 'duration', op: '-', right: part, wrapped: false, start: sign.start, end: part.end }
    : part;
}

function parsePrimary(stream: Stream): DurationPart | undefined {
  const number = parseNumberOrDuration(stream);
  if (number !== undefined) {
    if (Math.abs(number.value) > longestSeconds) {
      stream.fail(number.start, 'duration out of range');
    }
    return number;
  }
  const peek = stream.peek();
  if (stream.is('(')) {
    stream.take();
    const inner = stream.nested(() => parsePart(stream, 0)) ?? stream.unexpected();
    const end = close(stream);
    return inner.node === 'duration'
      ? { ...inner, wrapped: true }
      : { node: 'duration', op: '+', right: inner, wrapped: true, start: peek.start, end };
  }
  if (peek.kind !== 'preprocessor' || peek.word === 'start' || peek.word === 'end') {
    return undefined;
  }
  const op = stream.take().word as 'step' | 'range' | 'min_of' | 'max_of';
  if (!stream.takeIf('(')) {
    stream.unexpected();
  }
  if (op === 'step' || op === 'range') {
    return { node: 'duration', op, wrapped: false, start: peek.start, end: close(stream) };
  }
  const left = stream.nested(() => parsePart(stream, 0)) ?? stream.unexpected();
  if (!stream.takeIf(',')) {
    stream.unexpected();
  }
  const right = stream.nested(() => parsePart(stream, 0)) ?? stream.unexpected();
  return {
    node: 'duration',
    op,
    left,
    right,
    wrapped: false,
    start: peek.start,
    end: close(stream),
  };
}

function close(stream: Stream): number {
  return stream.is(')') ? stream.take().end : stream.unexpected();
}
