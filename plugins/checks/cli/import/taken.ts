/** Request that creates a check or a heartbeat. */
export type Draft = Readonly<Record<string, unknown>>;

/** Contents of a file of another monitor. */
export interface Taken {
  readonly checks: readonly Draft[];
  readonly heartbeats: readonly Draft[];
  /** Parts that were left out, and why; one line each. */
  readonly left: readonly { readonly name: string; readonly why: string }[];
}

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isFields) : [];

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'string' || typeof one === 'number').map(String)
    : [];

/** Returns a text that says something, or undefined. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== ''
    ? value
    : typeof value === 'number'
      ? String(value)
      : undefined;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const unitSeconds: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
};

/** Seconds of a duration such as `1m30s`. */
export function secondsOf(value: unknown): number | undefined {
  const text = textOf(value)?.trim() ?? '';
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) {
    return undefined;
  }
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
    (sum, [, digits, unit]) => sum + Number(digits) * unitSeconds[unit!]!,
    0,
  );
}

/** Brings a number of seconds within limits. */
export const within = (seconds: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Math.round(seconds)));

/** Collects what is taken, under names that svc accepts and that are used once. */
export class Collection {
  readonly #checks: Draft[] = [];
  readonly #heartbeats: Draft[] = [];
  readonly #left: { name: string; why: string }[] = [];
  readonly #names = new Set<string>();

  check(name: string, draft: Draft): void {
    this.#checks.push({ name: this.#nameFor(name), ...draft });
  }

  heartbeat(name: string, draft: Draft): void {
    this.#heartbeats.push({ name: this.#nameFor(name), ...draft });
  }

  leave(name: string, why: string): void {
    this.#left.push({ name, why });
  }

  get taken(): Taken {
    return { checks: this.#checks, heartbeats: this.#heartbeats, left: this.#left };
  }

  #nameFor(text: string): string {
    const plain =
      text
        .normalize('NFKD')
        .replaceAll(/[^A-Za-z0-9 ._-]+/g, '-')
        .slice(0, 70)
        .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '') || 'check';
    for (let count = 1; ; count++) {
      const name = count === 1 ? plain : `${plain} ${count}`;
      if (!this.#names.has(name)) {
        this.#names.add(name);
        return name;
      }
    }
  }
}
