import { SvcError } from '../../sdk/index.ts';

const deepest = 64;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

/** Parses a hostile text: no key that could reach a prototype, no nesting that could exhaust a stack. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SvcError('invalid_argument', 'the body is not valid JSON', { cause: error });
  }
  inspect(value);
  return value;
}

/** Walks level by level, so that depth costs no stack. */
function inspect(root: unknown): void {
  let level: object[] = isObject(root) ? [root] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > deepest) {
      throw new SvcError('invalid_argument', `the body is nested more than ${deepest} levels deep`);
    }
    const below: object[] = [];
    for (const node of level) {
      collect(node, below);
    }
    level = below;
  }
}

function collect(node: object, below: object[]): void {
  if (Array.isArray(node)) {
    for (const entry of node as unknown[]) {
      if (isObject(entry)) {
        below.push(entry);
      }
    }
    return;
  }
  for (const key of Object.keys(node)) {
    if (forbidden.has(key)) {
      throw new SvcError('invalid_argument', `the body has a field named ${key}, which is never accepted`, {
        details: [{ path: `/${key}`, message: 'is never accepted' }],
      });
    }
    const entry = (node as Record<string, unknown>)[key];
    if (isObject(entry)) {
      below.push(entry);
    }
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
