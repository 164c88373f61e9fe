import { messageOf } from 'svc/sdk';

export interface DueWorkParts {
  /** Does all that is due at its beginning, or throws. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Called before it is retried. */
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

  /** Error of the last run; null if it succeeded. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Schedules a run; one that is in progress is followed by another. */
  due(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Runs until the plugin stops. */
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
