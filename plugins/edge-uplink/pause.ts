import type { Scope } from 'svc/sdk';

/** A wait that can be cut short: by `wake`, or by the end of the scope. */
export class Pause {
  readonly #scope: Pick<Scope, 'timeout' | 'signal'>;
  readonly #label: string;
  #wakeUp: (() => void) | undefined;
  #awake = false;

  constructor(scope: Pick<Scope, 'timeout' | 'signal'>, label: string) {
    this.#scope = scope;
    this.#label = label;
  }

  async wait(ms: number): Promise<void> {
    const { signal } = this.#scope;
    if (this.#awake || signal.aborted) {
      this.#awake = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#wakeUp = undefined;
        this.#awake = false;
        signal.removeEventListener('abort', done);
        void timer?.();
        resolve();
      };
      this.#wakeUp = done;
      signal.addEventListener('abort', done, { once: true });
      const timer = Number.isFinite(ms) ? this.#scope.timeout(this.#label, ms, done) : undefined;
    });
  }

  wake(): void {
    this.#awake = true;
    this.#wakeUp?.();
  }
}
