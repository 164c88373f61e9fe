import { formatDuration, parseDuration } from 'svc/query';
import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

export const longestExpression = 8_192;

export interface Span {
  /** Text as written. */
  readonly text: string;
  readonly ms: number;
}

interface Bounds {
  readonly above?: number | undefined;
  readonly least?: number;
  readonly below?: number | undefined;
  readonly most?: number;
}

/** One element of `conditions` as it was sent: each field is read by its name and kind, and others are refused. */
export class ConditionFields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #asked = new Set<string>();
  readonly path: string;

  constructor(values: unknown, path: string) {
    if (typeof values !== 'object' || values === null || Array.isArray(values)) {
      throw wrongField(path, 'must be an object');
    }
    this.#values = values as Readonly<Record<string, unknown>>;
    this.path = path;
  }

  #read(name: string): unknown {
    this.#asked.add(name);
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }

  wrong(name: string, message: string): SvcError {
    return wrongField(`${this.path}/${name}`, message);
  }

  has(name: string): boolean {
    return this.#read(name) !== undefined;
  }

  text(name: string, most = longestExpression): string {
    const value = this.#read(name);
    if (typeof value !== 'string' || value.trim() === '') {
      throw this.wrong(
        name,
        value === undefined ? 'is required' : 'must be a text that is not empty',
      );
    }
    if (value.length > most) {
      throw this.wrong(name, `has ${value.length} characters, and the limit is ${most}`);
    }
    return value.trim();
  }

  number(name: string, { above, least, below, most }: Bounds = {}): number {
    const value = this.#read(name);
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw this.wrong(name, value === undefined ? 'is required' : 'must be a number');
    }
    const complaint =
      (above !== undefined && value <= above && `must be above ${above}`) ||
      (least !== undefined && value < least && `must be at least ${least}`) ||
      (below !== undefined && value >= below && `must be below ${below}`) ||
      (most !== undefined && value > most && `must be at most ${most}`);
    if (complaint !== false) {
      throw this.wrong(name, complaint);
    }
    return value;
  }

  /** Longer than nothing, and not longer than `maxMs`. */
  span(
    name: string,
    { minMs = 1_000, maxMs }: { readonly minMs?: number; readonly maxMs: number },
  ): Span {
    const text = this.text(name, 64);
    const ms = this.#duration(name, text);
    if (ms < minMs || ms > maxMs) {
      throw this.wrong(
        name,
        `must be between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`,
      );
    }
    return { text: formatDuration(ms), ms };
  }

  #duration(name: string, text: string): number {
    try {
      return parseDuration(text);
    } catch {
      throw this.wrong(name, 'must be a duration such as 30s, 5m or 1h30m');
    }
  }

  choice<const T extends string>(name: string, choices: readonly T[]): T {
    const value = this.#read(name);
    const found = choices.find((choice) => choice === value);
    if (found === undefined) {
      throw this.wrong(
        name,
        value === undefined ? 'is required' : `must be one of ${choices.join(', ')}`,
      );
    }
    return found;
  }

  /** Returns how long the condition must last; immediately if unset. */
  lasting(): { readonly for?: string } {
    if (
      !this.has('for') ||
      this.text('for', 64) === '0' ||
      this.#duration('for', this.text('for', 64)) === 0
    ) {
      return {};
    }
    return { for: this.span('for', { minMs: 1, maxMs: 30 * 86_400_000 }).text };
  }

  /** Throws for a field that was not read. */
  refuseOthers(): void {
    const unknown = Object.keys(this.#values).find((name) => !this.#asked.has(name));
    if (unknown !== undefined) {
      const shown = unknown.slice(0, 100);
      throw this.wrong(
        shown,
        `is not a field of this kind of condition; known fields: ${[...this.#asked].join(', ')}`,
      );
    }
  }
}

export function wrongField(path: string, message: string, cause?: unknown): SvcError {
  const name = path.replace(/^\//, '').replaceAll('/', '.');
  return errors.field({ name, message }, { details: [{ path, message }], cause });
}
