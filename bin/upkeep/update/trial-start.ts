import { assertNotRolledBack, Update } from './update.ts';

/**
 * Start of svc that may be one of a version on trial: notified when it begins, when it serves, and
 * when it has for long enough.
 */
export class TrialStart {
  readonly #version: string;
  readonly #nativeBinding: string | undefined;
  #update: Update | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(version: string, nativeBinding: string | undefined) {
    this.#version = version;
    this.#nativeBinding = nativeBinding;
  }

  begin(dataDir: string): void {
    const update = Update.start(dataDir, this.#version, this.#nativeBinding);
    this.#update = update;
    if (update !== undefined) {
      const { deadlineMs } = update.plan;
      // Whoever starts it again starts the version before, after three such ends or once it is given up.
      this.#late = setTimeout(() => {
        process.stderr.write(
          `svc: this version is on trial and was not ready within ${deadlineMs / 1_000} s; stopping\n`,
        );
        process.exit(1);
      }, deadlineMs);
      this.#late.unref();
    }
  }

  /** Asserts that it still stands, once it has the lock of the data. */
  assertStands(dataDir: string): void {
    assertNotRolledBack(dataDir, this.#version);
  }

  ready(): void {
    clearTimeout(this.#late);
    const update = this.#update;
    if (update !== undefined) {
      update.ready();
      setTimeout(() => update.hold(), update.plan.holdMs).unref();
    }
  }
}
