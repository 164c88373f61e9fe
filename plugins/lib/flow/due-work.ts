import { messageOf } from 'svc/sdk';

export interface DueWorkParts {
  /** Does all that is due at its beginning, or throws. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Told before it is tried again. */
  readonly failed: (error: unknown, cause: string) => void;
  readonly retryMs: number;
  /** Calls once, after so many milliseconds. */
  readonly later: (ms: number, work: () => void) => void;
}

/** Work that rests until it is due, is never done twice at once, and is tried again after a while when it failed. */
export class DueWork {
  readonly #parts: DueWorkParts;
  #isDue = false;
  #wake: (() => void) | undefined;
  #lastError: string | null = null;

  constructor(parts: DueWorkParts) {
    this.#parts = parts;
  }

  /** Of the last time; null: it went well. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** There is more to do; while it is at work it goes on to it afterwards. */
  due(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Until the plugin leaves. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake?.());
    while (!signal.aborted) {
      if (this.#isDue) {
        this.#isDue = false;
        await this.#once(signal);
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  async #once(signal: AbortSignal): Promise<void> {
    const { work, failed, later, retryMs } = this.#parts;
    try {
      await work(signal);
      this.#lastError = null;
    } catch (error) {
      if (!signal.aborted) {
        this.#lastError = messageOf(error);
        failed(error, this.#lastError);
        later(retryMs, () => this.due());
      }
    }
  }
}
