import type { Duration, DurationPart, Placement } from '../parse/ast.ts';
import { executionError } from '../parse/position.ts';
import { power } from './arithmetic.ts';
import { type Grid, type Run, timeAt } from './run.ts';

/** Time of a selector: a fixed one, or an offset before that of evaluation. */
export interface Placed {
  readonly at?: number;
  readonly offset: number;
}

export function place(run: Run, { at, offset }: Placement): Placed {
  const time = at === 'start' ? run.window.start : at === 'end' ? run.window.end : at;
  return { offset: milliseconds(run, offset, true), ...(time !== undefined && { at: time }) };
}

export const dataTime = (placed: Placed, grid: Grid, step: number): number =>
  (placed.at ?? timeAt(grid, step)) - placed.offset;

/** Evaluates a duration in milliseconds. */
export function milliseconds(run: Run, duration: Duration, mayBeNegative: boolean): number {
  if (typeof duration === 'number') {
    return duration;
  }
  const seconds = secondsOf(run, duration);
  const where = `${duration.start}:${duration.end}`;
  if (!Number.isFinite(seconds)) {
    throw executionError(`${where}: duration is NaN or infinite`);
  }
  if (seconds <= 0 && !mayBeNegative) {
    throw executionError(`${where}: duration must be greater than 0`);
  }
  if (Math.abs(seconds) > 2 ** 63 / 1e9) {
    throw executionError(`${where}: duration is out of range`);
  }
  return Math.trunc(seconds * 1000);
}

function secondsOf(run: Run, part: DurationPart): number {
  if (part.node === 'number') {
    return part.value;
  }
  const left = part.left === undefined ? 0 : secondsOf(run, part.left);
  const right = part.right === undefined ? 0 : secondsOf(run, part.right);
  switch (part.op) {
    case 'step':
      return run.window.step / 1000;
    case 'range':
      return (run.window.end - run.window.start) / 1000;
    case 'min_of':
      return Math.min(left, right);
    case 'max_of':
      return Math.max(left, right);
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '^':
      return power(left, right);
    case '/':
    case '%':
      if (right === 0) {
        throw executionError(
          `${part.start}:${part.end}: ${part.op === '/' ? 'division' : 'modulo'} by zero`,
        );
      }
      return part.op === '/' ? left / right : left % right;
  }
}
