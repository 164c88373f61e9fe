import { evidenceTextOf, type EvidenceText } from './evidence-text.ts';
import { digestOf } from './reading.ts';
import { guarded } from './guard/result-guard.ts';

/** Larger results are kept and given as their beginning and end. */
const maxBytes = 8 * 1_024;
/** Characters and members from which on a result is shaped in a thread: guarding takes 60 ms a megabyte. */
const maxAtOnce = 64 * 1_024;

/** A result as it may leave: guarded, and either small or measured. */
export interface ResultShape {
  /** The guarded result, if it is small. */
  readonly small?: { readonly result: unknown };
  readonly text: EvidenceText;
  /** Digest that replaces a result that is not small. */
  readonly digest: object;
}

export function shapeOf(value: unknown): ResultShape {
  const result = guarded(value) ?? null;
  const isSmall = Buffer.byteLength(JSON.stringify(result)) <= maxBytes;
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 1);
  return {
    ...(isSmall && { small: { result } }),
    text: evidenceTextOf(text),
    digest: isSmall ? {} : { ...countsOf(result), ...digestOf(text) },
  };
}

/** Counts the items of a list, or of the lists in an object; a text has a member for each character. */
function countsOf(result: unknown): object {
  if (Array.isArray(result)) {
    return { items: result.length };
  }
  const counts =
    typeof result === 'object' && result !== null
      ? Object.entries(result).flatMap(([name, item]) =>
          Array.isArray(item) ? [[name, item.length]] : [],
        )
      : [];
  return counts.length > 0 ? { items: Object.fromEntries(counts.slice(0, 10)) } : {};
}

/** Returns whether a value takes long to shape, and is plain data that a thread can be given. */
export function isLargeData(value: unknown): boolean {
  let size = 0;
  let isPlain = true;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && size <= maxAtOnce) {
    const next = waiting.pop();
    size += typeof next === 'string' ? next.length : 1;
    if (typeof next === 'function' || typeof next === 'symbol') {
      isPlain = false;
    }
    if (typeof next === 'object' && next !== null) {
      const isList = Array.isArray(next);
      const prototype: unknown = Object.getPrototypeOf(next);
      isPlain &&=
        isList || ArrayBuffer.isView(next) || prototype === Object.prototype || prototype === null;
      if (ArrayBuffer.isView(next)) {
        size += next.byteLength;
      } else {
        const members = isList ? next : Object.values(next);
        // Not all of a long list, which is large by its length alone.
        size += members.length;
        members.slice(0, maxAtOnce).forEach((member) => waiting.push(member));
      }
    }
  }
  return size > maxAtOnce && isPlain;
}
