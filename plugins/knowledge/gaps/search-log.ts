import type { Principal, Tables } from 'svc/sdk';

import type { KnowledgeTables } from '../documents/tables.ts';
import { type Asker, askerOf, type Gap, GapStore, nameOf } from './gap-store.ts';

export interface SearchLogParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly now: () => number;
}

interface Pending {
  readonly question: string;
  readonly by: string;
  readonly asker: Asker;
  readonly found: ReadonlySet<number>;
  readonly at: number;
}

/** Time after which nobody goes on typing a question that found nothing. */
const typedMs = 30_000;
/** Time in which a result is opened by whoever wants it. */
const openedMs = 5 * 60_000;
const maxPending = 2_000;
const maxLetters = 200;
const shortest = 3;
/** Matches what a pasted line may reveal: the value of a secret, and long keys. */
const secret =
  /((?:passw(?:or)?d|pwd|secret|token|credential|api[_-]?key|access[_-]?key|authorization|bearer|cookie)["']?\s*[=:]\s*(?:(?:bearer|basic)\s+)?|\b(?:bearer|basic)\s+|:\/\/[^\s/@:]*:(?=[^\s/@]+@)|\b(?=[A-Za-z\d_+/-]*\d)(?=[A-Za-z\d_+/-]{32}))[^\s,;@"']+/gi;

/**
 * Recent searches in memory: one is forgotten when a result of it is opened, or when the next one
 * only goes on typing it, and kept as a gap otherwise.
 */
export class SearchLog {
  readonly #parts: SearchLogParts;
  #pending: Pending[] = [];

  constructor(parts: SearchLogParts) {
    this.#parts = parts;
  }

  note(principal: Principal, text: string, found: readonly number[]): void {
    const question = text
      .slice(0, 4 * maxLetters)
      .replaceAll(secret, '$1[redacted]')
      .replace(/\s+/g, ' ')
      .trim()
      .toLowerCase()
      .slice(0, maxLetters);
    if (question.length < shortest) {
      return;
    }
    const by = nameOf(principal);
    const at = Math.floor(this.#parts.now());
    const others = this.#pending.filter(
      (one) => one.by !== by || at - one.at > typedMs || !isTyping(one.question, question),
    );
    this.#pending = [
      ...others,
      { question, by, asker: askerOf(principal), found: new Set(found), at },
    ].slice(-maxPending);
  }

  /** Takes note that somebody reads a document: their searches that found it were answered. */
  opened(principal: Principal, doc: number): void {
    const by = nameOf(principal);
    if (this.#pending.some((one) => one.by === by && one.found.has(doc))) {
      this.#pending = this.#pending.filter((one) => one.by !== by || !one.found.has(doc));
    }
  }

  /** Stores the searches whose time is over. */
  async settle(): Promise<void> {
    const now = this.#parts.now();
    const isOver = ({ found, at }: Pending): boolean =>
      now - at >= (found.size === 0 ? typedMs : openedMs);
    const over = this.#pending.filter(isOver);
    if (over.length === 0) {
      return;
    }
    this.#pending = this.#pending.filter((one) => !isOver(one));
    const gaps = over.map(({ question, asker, found, at }): Gap => ({
      question,
      asker,
      kind: found.size === 0 ? 'found_nothing' : 'not_opened',
      at,
    }));
    await this.#parts.tables.write((tx) => new GapStore(tx).add(gaps));
  }
}

/** Returns whether one question goes on where the other stopped. */
const isTyping = (before: string, now: string): boolean =>
  now.startsWith(before) || before.startsWith(now);
