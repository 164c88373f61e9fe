import type { Labels } from 'svc/query';

/** Origin of a label; of two labels with the same name the one with the lower origin keeps it. */
const stream = 0;
const metadata = 1;
const parsed = 2;

export const errorLabel = '__error__';
export const errorDetailsLabel = '__error_details__';
const extractedSuffix = '_extracted';

/** Max labels parsed out of one line. */
const maxLabels = 512;

/** One line on its way through the stages: its text, its labels, and what went wrong with it. Made once, used for all lines of a query. */
export class WorkingLine {
  line = '';
  ms = 0;
  ns = 0;
  error = '';
  errorDetails = '';
  #base: Labels = [];
  #beside: Labels | undefined;
  #changed = false;
  #loaded = false;
  #names: string[] = [];
  /** Values of labels; undefined if the label was removed. */
  #values: (string | undefined)[] = [];
  #origins: number[] = [];
  #count = 0;

  start(line: string, ms: number, ns: number, base: Labels, beside: Labels | undefined): void {
    this.line = line;
    this.ms = ms;
    this.ns = ns;
    this.error = '';
    this.errorDetails = '';
    this.#base = base;
    this.#beside = beside;
    this.#changed = false;
    this.#loaded = false;
    this.#count = 0;
  }

  /** Unpacks labels on demand: most lines are filtered by their text alone. */
  #load(): void {
    this.#loaded = true;
    const base = this.#base;
    const beside = this.#beside;
    for (let i = 0; i < base.length; i += 2) {
      this.#put(base[i]!, base[i + 1]!, stream);
    }
    for (let i = 0; beside !== undefined && i < beside.length; i += 2) {
      const name = beside[i]!;
      this.#put(this.#find(name) < 0 ? name : name + extractedSuffix, beside[i + 1]!, metadata);
    }
  }

  get(name: string): string | undefined {
    if (name === errorLabel) {
      return this.error;
    }
    if (name === errorDetailsLabel) {
      return this.errorDetails;
    }
    const index = this.#indexOf(name);
    return index < 0 ? undefined : this.#values[index];
  }

  /** The name under which a parser may store its finding, be it in place of a metadata label; undefined when an earlier finding has it. */
  nameFor(name: string): string | undefined {
    const index = this.#indexOf(name);
    if (index < 0) {
      return name;
    }
    if (this.#origins[index] === parsed) {
      return undefined;
    }
    const other = name + extractedSuffix;
    const beside = this.#find(other);
    return beside < 0 || this.#origins[beside] !== parsed ? other : undefined;
  }

  /** Stores what a parser found under a name that `nameFor` gave. */
  add(name: string, value: string): void {
    if (this.#count >= maxLabels) {
      return;
    }
    this.#changed = true;
    const taken = name.endsWith(extractedSuffix) ? this.#indexOf(name) : -1;
    if (taken < 0) {
      this.#put(name, value, parsed);
    } else {
      this.#values[taken] = value;
      this.#origins[taken] = parsed;
    }
  }

  /** Sets a label, replacing one of any origin. */
  set(name: string, value: string): void {
    const index = this.#indexOf(name);
    this.#changed = true;
    if (index < 0) {
      this.#put(name, value, parsed);
    } else {
      this.#values[index] = value;
    }
  }

  remove(name: string): void {
    if (name === errorLabel) {
      this.error = '';
    } else if (name === errorDetailsLabel) {
      this.errorDetails = '';
    } else {
      const index = this.#indexOf(name);
      if (index >= 0) {
        this.#takeAway(index);
      }
    }
  }

  fail(error: string, details: string): void {
    this.error = error;
    this.errorDetails = details;
  }

  /** Removes every label that fails the test, except errors. */
  keepOnly(wanted: (name: string, value: string) => boolean): void {
    this.#ready();
    for (let i = this.#count - 1; i >= 0; i--) {
      const value = this.#values[i];
      if (value !== undefined && !wanted(this.#names[i]!, value)) {
        this.#takeAway(i);
      }
    }
  }

  each(visit: (name: string, value: string) => void): void {
    this.#ready();
    for (let i = 0; i < this.#count; i++) {
      const value = this.#values[i];
      if (value !== undefined) {
        visit(this.#names[i]!, value);
      }
    }
  }

  /** Labels of the stream and its metadata, if they are unchanged. */
  get untouched(): { readonly base: Labels; readonly beside: Labels | undefined } | undefined {
    return this.#changed || this.error !== ''
      ? undefined
      : { base: this.#base, beside: this.#beside };
  }

  /** All labels, sorted; errors among them. */
  flat(): string[] {
    this.#ready();
    const order: number[] = [];
    for (let i = 0; i < this.#count; i++) {
      if (this.#values[i] !== undefined) {
        order.push(i);
      }
    }
    order.sort((a, b) => (this.#names[a]! < this.#names[b]! ? -1 : 1));
    const flat =
      this.error === ''
        ? []
        : this.errorDetails === ''
          ? [errorLabel, this.error]
          : [errorLabel, this.error, errorDetailsLabel, this.errorDetails];
    for (const index of order) {
      flat.push(this.#names[index]!, this.#values[index]!);
    }
    return flat;
  }

  /**
   * Returns the remaining labels of the stream, of its metadata and of parsing, errors included.
   * Each sorted.
   */
  byOrigin(): { readonly stream: Labels; readonly metadata: Labels; readonly parsed: Labels } {
    const flat = this.flat();
    const found: [string[], string[], string[]] = [[], [], []];
    for (let i = 0; i < flat.length; i += 2) {
      const index = this.#find(flat[i]!);
      found[index < 0 ? parsed : this.#origins[index]!]!.push(flat[i]!, flat[i + 1]!);
    }
    return { stream: found[stream], metadata: found[metadata], parsed: found[parsed] };
  }

  /** A label of the stream or its metadata leaves its name behind; one that was parsed may be parsed again. */
  #takeAway(index: number): void {
    this.#changed = true;
    if (this.#origins[index] !== parsed) {
      this.#values[index] = undefined;
      return;
    }
    this.#count -= 1;
    this.#names[index] = this.#names[this.#count]!;
    this.#values[index] = this.#values[this.#count];
    this.#origins[index] = this.#origins[this.#count]!;
  }

  #put(name: string, value: string, origin: number): void {
    this.#names[this.#count] = name;
    this.#values[this.#count] = value;
    this.#origins[this.#count] = origin;
    this.#count += 1;
  }

  #ready(): void {
    if (!this.#loaded) {
      this.#load();
    }
  }

  #indexOf(name: string): number {
    this.#ready();
    return this.#find(name);
  }

  #find(name: string): number {
    const names = this.#names;
    const count = this.#count;
    for (let i = 0; i < count; i++) {
      if (names[i] === name) {
        return i;
      }
    }
    return -1;
  }
}
