import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/**
 * Returns the number of spans in an export. Nothing else of it is read: it is passed on unchanged.
 * Throws if it cannot be valid, so that the sending program learns of that, rather than the log of
 * the manager.
 */
export function countSpans(body: Buffer, json: boolean): number {
  return json ? countInJson(body) : countInProtobuf(body);
}

/** ResourceSpans, ScopeSpans, Span: the fields that lead to spans. */
const way = [1, 2, 2];
const wayInJson = ['resourceSpans', 'scopeSpans', 'spans'];

function countInProtobuf(body: Buffer): number {
  const found = { count: 0 };
  walk(body, 0, body.length, 0, found);
  return found.count;
}

function walk(
  bytes: Buffer,
  from: number,
  to: number,
  depth: number,
  found: { count: number },
): void {
  let at = from;
  const varint = (): number => {
    let value = 0;
    for (let i = 0; i < 10 && at < to; i++) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) {
        return value;
      }
    }
    throw garbage();
  };
  while (at < to) {
    const tag = varint();
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) {
      varint();
      continue;
    }
    const size = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : Infinity;
    if (field === 0 || size > to - at) {
      throw garbage();
    }
    if (wire === 2 && field === way[depth]) {
      if (depth === way.length - 1) {
        found.count += 1;
      } else {
        walk(bytes, at, at + size, depth + 1, found);
      }
    }
    at += size;
  }
}

const garbage = (): SvcError => errors.not_protobuf();

function countInJson(body: Buffer): number {
  let level: unknown[];
  try {
    level = [JSON.parse(body.toString('utf8'))];
  } catch {
    // The words of the parser hold pieces of the body.
    throw errors.not_json();
  }
  for (const name of wayInJson) {
    level = level.flatMap((one) => childrenOf(one, name));
  }
  return level.length;
}

function childrenOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw errors.not_an_object({ name });
  }
  const children = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : [];
  if (!Array.isArray(children)) {
    throw errors.not_a_list({ name });
  }
  return children;
}
