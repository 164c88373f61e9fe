import { SvcError } from '../sdk/index.ts';

const maxDepth = 32;

/**
 * A frozen copy of plain data. One copy serves every subscriber: none of them can change what the others see, and the
 * emitter may go on changing its own object.
 */
export function frozenCopy(event: unknown, type: string): unknown {
  return frozen(event, type, '', 0);
}

function frozen(value: unknown, type: string, path: string, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw unfit(type, path, `a ${typeof value}`);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= maxDepth) {
    throw unfit(type, path, `data nested deeper than ${maxDepth} levels`);
  }
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item, at) => frozen(item, type, `${path}/${at}`, depth + 1)));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw unfit(type, path, `a ${value.constructor.name}`);
  }
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, part]) => [key, frozen(part, type, `${path}/${key}`, depth + 1)])));
}

const unfit = (type: string, path: string, what: string): SvcError =>
  new SvcError('invalid_argument', `event ${type} carries ${what}${path === '' ? '' : ` at ${path}`}; an event is plain data (objects, lists, text, numbers)`);
