import { createHash } from 'node:crypto';

import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { Evidence, Missing, MissingReason } from 'svc/rca';
import { type Clock, isSvcError, messageOf, withDeadline } from 'svc/sdk';

import { errors } from './errors.ts';

export interface GathererParts {
  /** Sources by the first word of a question's source. */
  readonly sources: ReadonlyMap<string, EvidenceSource>;
  readonly clock: Clock;
  /** Monotonic: later nothing more is waited for. */
  readonly until: number;
  readonly signal: AbortSignal;
}

export interface Found {
  /** Id of the evidence. */
  readonly id: string;
  readonly value: unknown;
  /** There is more than this. */
  readonly truncated?: boolean;
}

/**
 * Age from which samples are complete: hosts send every minute at the latest, or were disconnected.
 */
const samplesSettleMs = 60_000;
const longestMs = 6_000;
const atOnce = 6;
const mostBytes = 8 * 1_024 * 1_024;

/** Asks sources and writes down what was asked and what came: an answer is evidence, its absence is named, and neither is ever an error. */
export class Gatherer {
  readonly #parts: GathererParts;
  readonly #evidence = new Map<number, Evidence>();
  readonly #missing: Missing[] = [];
  readonly #waiting: (() => void)[] = [];
  #numbers = 0;
  #running = 0;

  constructor(parts: GathererParts) {
    this.#parts = parts;
  }

  get evidence(): readonly Evidence[] {
    return [...this.#evidence.entries()].sort(([a], [b]) => a - b).map(([, evidence]) => evidence);
  }

  get missing(): readonly Missing[] {
    return this.#missing;
  }

  /** Evidence is numbered in the order of the questions, whichever is answered first. */
  async ask(question: Question): Promise<Found | undefined> {
    const number = (this.#numbers += 1);
    await this.#turn();
    try {
      const answer = await askSource(this.#parts.sources, question, this.#patience());
      const now = this.#parts.clock.now();
      const evidence = evidenceOf(`E${number}`, question, answer, now);
      const settled = settledOf(this.#parts.sources, question, answer.value, now - samplesSettleMs);
      this.#evidence.set(number, { ...evidence, ...(settled !== undefined && { settled }) });
      return { id: evidence.id, value: answer.value, truncated: answer.truncated === true };
    } catch (error) {
      this.lack(question, reasonOf(error), messageOf(error));
      return undefined;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Records what could not be asked at all; the same gap is recorded once. */
  lack(
    { kind, source, node }: Pick<Question, 'kind' | 'source' | 'node'>,
    reason: MissingReason,
    text: string,
  ): void {
    const name = nameOf({ source });
    if (
      !this.#missing.some(
        (known) =>
          known.source === name &&
          known.reason === reason &&
          known.node === node &&
          known.kind === kind,
      )
    ) {
      this.#missing.push({
        kind,
        source: name,
        reason,
        text: text.slice(0, 400),
        ...(node !== undefined && { node }),
      });
    }
  }

  async #turn(): Promise<void> {
    if (this.#running >= atOnce) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
  }

  #patience(): { readonly ms: number; readonly signal: AbortSignal } {
    const { clock, until, signal } = this.#parts;
    const left = until - clock.monotonic();
    if (left < 1 || signal.aborted) {
      throw errors.time_up();
    }
    return { ms: Math.min(longestMs, left), signal };
  }
}

/** Asks one question, on behalf of an investigation or a person who repeats it. */
export async function askSource(
  sources: ReadonlyMap<string, EvidenceSource>,
  question: Question,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<Answer> {
  const name = nameOf(question);
  const source = sources.get(name);
  if (source === undefined) {
    throw errors.source_away({ name });
  }
  const abort = new AbortController();
  return await withDeadline(
    source.ask(question, AbortSignal.any([signal, abort.signal])),
    ms,
    async () => {
      abort.abort();
      throw errors.source_late({ name, seconds: (ms / 1_000).toFixed(1) });
    },
  );
}

const nameOf = ({ source }: Pick<Question, 'source'>): string => source.split(' ', 1)[0]!;

/**
 * Returns the digest of what no later sample changes; undefined if that is the whole answer, or its
 * source cannot tell.
 */
export function settledOf(
  sources: ReadonlyMap<string, EvidenceSource>,
  question: Question,
  value: unknown,
  to: number,
): { readonly to: number; readonly sha256: string } | undefined {
  const source = sources.get(nameOf(question));
  return source?.settled === undefined || question.window.to <= to
    ? undefined
    : { to, sha256: digestOf(source.settled(value, to)) };
}

/** The digest that an answer would have again. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('hex');

export function evidenceOf(
  id: string,
  { kind, source, query, window }: Question,
  { value, digest, trust, truncated, redactions }: Answer,
  at: number,
): Evidence {
  const text = canonical(value);
  if (text.length > mostBytes) {
    throw errors.answer_too_large();
  }
  return {
    id,
    kind,
    source,
    query,
    window,
    fetched_at: Math.round(at),
    digest,
    trust,
    sha256: createHash('sha256').update(text).digest('hex'),
    ...(truncated === true && { truncated }),
    ...(redactions !== undefined && redactions > 0 && { redactions }),
  };
}

/** One text for one value, in whatever order its fields came. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

function reasonOf(error: unknown): MissingReason {
  if (!isSvcError(error)) {
    return 'down';
  }
  if (
    error.reason === 'investigate.time_up' ||
    error.reason === 'investigate.source_late' ||
    /deadline|too long|timed? ?out/i.test(error.message)
  ) {
    return 'timeout';
  }
  if (
    error.reason === 'investigate.answer_too_large' ||
    /samples|too (?:many|large)|limit/i.test(error.message)
  ) {
    return 'too_much';
  }
  return error.code === 'unavailable' ||
    error.code === 'upstream_error' ||
    error.code === 'internal'
    ? 'down'
    : 'refused';
}
