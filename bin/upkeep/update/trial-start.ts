import { assertNotTakenBack, beginTrial, hasHeld, markTrial, type Trial } from './trial.ts';

/**
 * Start of svc that may be one of a version on trial: notified when it begins, when it serves, and
 * when it has for long enough.
 */
export class TrialStart {
  readonly #version: string;
  readonly #nativeBinding: string | undefined;
  #trial: Trial | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(version: string, nativeBinding: string | undefined) {
    this.#version = version;
    this.#nativeBinding = nativeBinding;
  }

  begin(dataDir: string): void {
    const trial = beginTrial(dataDir, this.#version, this.#nativeBinding);
    this.#trial = trial;
    if (trial !== undefined) {
      // Whoever starts it again starts the version before, after three such ends or once it is given up.
      this.#late = setTimeout(() => {
        process.stderr.write(
          `svc: this version is on trial and was not ready within ${trial.deadlineMs / 1_000} s; stopping\n`,
        );
        process.exit(1);
      }, trial.deadlineMs);
      this.#late.unref();
    }
  }

  /** Asserts that it still stands, once it has the lock of the data. */
  assertStands(dataDir: string): void {
    assertNotTakenBack(dataDir, this.#version);
  }

  ready(dataDir: string): void {
    clearTimeout(this.#late);
    const trial = this.#trial;
    if (trial !== undefined) {
      markTrial(dataDir, trial, 'readyAt');
      setTimeout(() => {
        markTrial(dataDir, trial, 'heldAt');
        hasHeld(dataDir, trial);
      }, trial.holdMs).unref();
    }
  }
}
