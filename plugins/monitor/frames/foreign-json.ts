import { wellFormed } from '../variables/query-text.ts';

/** Object from outside: only its own fields, each of which may be anything. */
export type Foreign = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Foreign =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const field = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

export const objects = (value: unknown): readonly Foreign[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Trimmed and no longer than `most`; empty when it is no text. */
export const text = (value: unknown, most = 200): string =>
  typeof value === 'string' ? wellFormed(value.trim().slice(0, most)) : '';

export const whole = (value: unknown, least: number, most: number, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.min(most, Math.max(least, Math.round(value)))
    : otherwise;
