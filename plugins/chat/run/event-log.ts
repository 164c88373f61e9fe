import type { RunEvent } from 'svc/contracts/chat';
import type { Clock } from 'svc/sdk';

const reserveStep = 1_000;

/** The numbered events of one run that is worked on here: from which all its readers are served, at their own pace. */
export class EventLog {
  readonly #clock: Clock;
  readonly #events: RunEvent[];
  #seq: number;
  #reserved: number;
  #stored: number;
  /** Text that is not an event yet: many small pieces become one. */
  #text: { readonly type: string; readonly id: string; delta: string } | undefined;
  /** When text was last made an event. */
  #flushedAt = Number.NEGATIVE_INFINITY;
  #readers = new Set<() => void>();
  #closed = false;

  /** `reserved`: numbers up to this one may have been sent by an earlier worker. */
  constructor(clock: Clock, events: readonly RunEvent[], reserved: number) {
    this.#clock = clock;
    this.#events = [...events];
    this.#stored = events.length;
    this.#seq = Math.max(reserved, events.at(-1)?.seq ?? 0);
    this.#reserved = this.#seq;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get events(): readonly RunEvent[] {
    return this.#events;
  }

  /**
   * Returns the number to be stored before any further event is made; undefined while reserved
   * numbers are left.
   */
  nextReserve(): number | undefined {
    return this.#reserved - this.#seq >= reserveStep / 2 ? undefined : this.#seq + reserveStep;
  }

  reserved(upTo: number): void {
    this.#reserved = upTo;
  }

  add(type: string, data: Readonly<Record<string, unknown>> = {}): void {
    this.flush();
    this.#push(type, data);
  }

  /** A piece of text or reasoning; it is sent with the next flush. Returns whether one is due: after a pause at once, else 20 ms after the last. */
  delta(type: 'text-delta' | 'reasoning-delta', id: string, delta: string): boolean {
    if (this.#text?.id !== id) {
      this.flush();
      this.#text = { type, id, delta: '' };
    }
    this.#text.delta += delta;
    return this.#clock.monotonic() - this.#flushedAt >= 20;
  }

  flush(): void {
    const text = this.#text;
    if (text !== undefined) {
      this.#text = undefined;
      this.#flushedAt = this.#clock.monotonic();
      this.#push(text.type, { id: text.id, delta: text.delta });
    }
  }

  /** Returns the events that are not on disk yet; `stored` marks them as stored. */
  unstored(): readonly RunEvent[] {
    this.flush();
    return this.#events.slice(this.#stored);
  }

  stored(count: number): void {
    this.#stored += count;
  }

  /** No event follows here; a reader that has read all is at its end. */
  close(): void {
    this.flush();
    this.#closed = true;
    this.#wake();
  }

  async *follow(after: number): AsyncGenerator<RunEvent> {
    let at = this.#events.findIndex(({ seq }) => seq > after);
    at = at === -1 ? this.#events.length : at;
    for (;;) {
      while (at < this.#events.length) {
        yield this.#events[at++]!;
      }
      if (this.#closed) {
        return;
      }
      await this.#more();
    }
  }

  #push(type: string, data: Readonly<Record<string, unknown>>): void {
    this.#seq += 1;
    this.#events.push({ seq: this.#seq, type, data });
    this.#wake();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => this.#readers.add(resolve));
  }

  #wake(): void {
    const readers = this.#readers;
    this.#readers = new Set();
    readers.forEach((wake) => wake());
  }
}
