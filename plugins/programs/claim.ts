import type { ProgramHandle, ProgramOptions, ProgramOwner } from 'svc/contracts/programs';
import type { Disposer } from 'svc/sdk';

import type { Program } from './program.ts';

export interface Terms {
  readonly owner: ProgramOwner;
  readonly name: string;
  readonly file: string;
  readonly options: ProgramOptions;
}

const usualStopMs = 10_000;
/** Time beyond its stop time, for a program that has to be killed. */
const killMs = 6_000;

/** A program of one generation of a plugin: it begins at commit, or at once after that, and leaves with the scope of its owner. */
export class Claim implements ProgramHandle {
  readonly terms: Terms;
  readonly #release: Disposer;
  #program: Program;
  #forget: () => void;
  #begun = false;
  #over = false;

  constructor(terms: Terms, program: Program, forget: () => void) {
    this.terms = terms;
    this.#program = program;
    this.#forget = forget;
    this.#release = terms.owner.scope.occupy(
      () =>
        `program ${terms.name}: ${this.state}${this.cause === undefined ? '' : ` (${this.cause})`}`,
      {
        begin: () => this.#begin(),
        end: () => this.#end(),
        endMs: (terms.options.stopMs ?? usualStopMs) + killMs,
      },
    );
  }

  get state(): ProgramHandle['state'] {
    return this.#program.state;
  }

  get pid(): number | undefined {
    return this.#program.pid;
  }

  get port(): number | undefined {
    return this.#program.port;
  }

  get startedAt(): number | undefined {
    return this.#program.startedAt;
  }

  get cause(): string | undefined {
    return this.#program.cause;
  }

  ready(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    return this.#program.ready(timeoutMs, signal);
  }

  async stop(): Promise<void> {
    await this.#release();
  }

  /** Takes over from the previous supervisor, once its process has ended. */
  goOn(program: Program, forget: () => void): void {
    this.#program = program;
    this.#forget = forget;
    if (this.#over) {
      this.#forget();
    } else if (this.#begun) {
      program.begin();
    }
  }

  /** Stops what runs for now; `next` is called for the successor. */
  async leave(next: () => void): Promise<void> {
    const program = this.#program;
    next();
    await program.stop();
  }

  #begin(): void {
    this.#begun = true;
    this.#program.begin();
  }

  async #end(): Promise<void> {
    this.#over = true;
    await this.#program.stop();
    this.#forget();
  }
}
