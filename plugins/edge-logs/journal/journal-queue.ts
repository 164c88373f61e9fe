import { partOf } from '../files/tail.ts';
import { type Draft, type Stream, streamOf } from '../lines/draft.ts';
import type { LineTimes } from '../lines/line-times.ts';
import type { JournalSpec } from '../lines/spec.ts';
import { piece } from '../lines/split-lines.ts';
import { type JournalEntry, journalEntry } from './journal-entry.ts';

export interface JournalOptions {
  readonly spec: JournalSpec;
  readonly host: string;
  readonly times: LineTimes;
  readonly maxBytes: number;
  /** Cursor of the entry after which to begin. */
  readonly cursor: string | undefined;
  /** Start time without a cursor, in milliseconds; undefined means the first entry. */
  readonly since: number | undefined;
}

const maxHeldBytes = 1024 * 1024;
const longestLine = 4 * 1024 * 1024;
const maxUnits = 256;

/** Entries of the journal between the program that prints them and the push that takes them. */
export class JournalQueue {
  readonly #options: JournalOptions;
  readonly #streams = new Map<string, Stream>();
  readonly #entries: JournalEntry[] = [];
  #held = 0;
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #read: string | undefined;
  #taken: string | undefined;
  #room: (() => void) | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#read = options.cursor;
    this.#taken = options.cursor;
  }

  /** The last entry that a push has taken. */
  get cursor(): string | undefined {
    return this.#taken;
  }

  /** Returns the arguments of a program that starts now, after what the last one printed. */
  begin(): readonly string[] {
    const { units, priority, directory } = this.#options.spec;
    this.#partial = [];
    this.#partialBytes = 0;
    const { since } = this.#options;
    const from =
      this.#read !== undefined
        ? [`--after-cursor=${this.#read}`]
        : since === undefined
          ? []
          : [`--since=@${Math.floor(since / 1_000)}`];
    return [
      '--follow',
      '--no-tail',
      '--all',
      '--output=json',
      '--quiet',
      '--no-pager',
      ...from,
      `--priority=${priority}`,
      ...units.map((unit) => `--unit=${unit}`),
      ...(directory === '' ? [] : [`--directory=${directory}`]),
    ];
  }

  /** Takes the program's output; resolves when there is capacity for more. */
  async feed(chunk: Uint8Array): Promise<void> {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#grow(rest.subarray(0, end));
      this.#line();
      rest = rest.subarray(end + 1);
    }
    this.#grow(rest);
    if (this.#held >= maxHeldBytes) {
      await new Promise<void>((resolve) => (this.#room = resolve));
    }
  }

  take(draft: Draft): void {
    const { times, maxBytes } = this.#options;
    let taken = 0;
    while (taken < this.#entries.length && !draft.full) {
      const { cursor, at, message, unit, metadata } = this.#entries[taken++]!;
      const stream = this.#streamOf(unit);
      for (let from = 0, part = 1; part === 1 || from < message.length; part++) {
        const { text, next } = piece(message, from, message.length, maxBytes);
        const isWhole = part === 1 && next === message.length;
        draft.add(
          stream,
          times.of(at),
          text,
          isWhole ? metadata : { ...metadata, ...partOf(part, next === message.length) },
        );
        from = next;
      }
      this.#held -= message.length + overhead;
      this.#taken = cursor;
    }
    this.#entries.splice(0, taken);
    if (this.#held < maxHeldBytes) {
      this.#room?.();
      this.#room = undefined;
    }
  }

  #grow(bytes: Buffer): void {
    this.#partialBytes += bytes.length;
    if (this.#partialBytes <= longestLine) {
      this.#partial.push(Buffer.from(bytes));
    }
  }

  #line(): void {
    const entry =
      this.#partialBytes > longestLine
        ? undefined
        : journalEntry(Buffer.concat(this.#partial).toString('utf8'));
    this.#partial = [];
    this.#partialBytes = 0;
    if (entry !== undefined) {
      this.#entries.push(entry);
      this.#held += entry.message.length + overhead;
      this.#read = entry.cursor;
    }
  }

  #streamOf(unit: string | undefined): Stream {
    const name =
      unit === undefined || this.#streams.has(unit) || this.#streams.size < maxUnits
        ? (unit ?? '')
        : 'other';
    let stream = this.#streams.get(name);
    if (stream === undefined) {
      const { spec, host } = this.#options;
      stream = streamOf({ job: spec.job, host, ...(name !== '' && { unit: name }) });
      this.#streams.set(name, stream);
    }
    return stream;
  }
}

/** Memory of an entry besides its message. */
const overhead = 512;
