import { AsyncResource } from 'node:async_hooks';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';

import type {
  ForeignPrograms,
  ProgramHandle,
  ProgramOptions,
  ProgramOwner,
  RunOptions,
  RunResult,
} from 'svc/contracts/programs';
import { type Clock, type Logger, patience, type RestartPolicy } from 'svc/sdk';

import { Claim } from './claim.ts';
import { errors } from './errors.ts';
import { Program } from './program.ts';
import { endLeftovers } from './program-note.ts';
import { runOnce } from './run-once.ts';

export interface RunnerOptions {
  /** Folder in which running processes are recorded, so that none outlives the service for long. */
  readonly folder: string;
  /** Folders where programs are found by name, as in the environment. */
  readonly path: string;
  /**
   * Promises by owner and name that resolve once the last program there has ended; shared by the
   * generations of this plugin.
   */
  readonly places: Map<string, Promise<unknown>>;
  readonly random: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly restart?: Partial<RestartPolicy>;
}

/** Interface of one generation of this plugin for the next. */
export interface Runner extends ForeignPrograms {
  readonly places: Map<string, Promise<unknown>>;
  adopt(claim: Claim): void;
}

/** A program is never given up: its owner asks how it is. */
const programPatience: RestartPolicy = {
  ...patience,
  firstMs: 500,
  maxMs: 60_000,
  maxRestarts: Infinity,
};

export class ProgramRunner implements Runner {
  readonly places: Map<string, Promise<unknown>>;
  readonly #options: RunnerOptions;
  /** A program outlives the request during which it is started, and must not keep its view of the services. */
  readonly #apart = new AsyncResource('svc.programs');
  readonly #claims = new Set<Claim>();
  readonly #leaving = new AbortController();
  readonly #swept: Promise<void>;
  #resolveSwept!: () => void;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.places = options.places;
    this.#swept = new Promise((resolve) => (this.#resolveSwept = resolve));
  }

  /** Programs that run at this moment. */
  get size(): number {
    return [...this.#claims].filter(({ pid }) => pid !== undefined).length;
  }

  find(name: string): string | undefined {
    if (isAbsolute(name)) {
      return runnable(name) ? name : undefined;
    }
    const folders =
      name.includes('/') || name === ''
        ? []
        : this.#options.path.split(delimiter).filter(isAbsolute);
    return folders.map((folder) => join(folder, name)).find(runnable);
  }

  start(owner: ProgramOwner, name: string, file: string, options: ProgramOptions): ProgramHandle {
    if (!/^[a-z][a-z0-9-]*$/.test(name)) {
      throw errors.program_name({ id: owner.id, name });
    }
    this.#requireHere();
    requireAbsolute(owner, file);
    const terms = { owner, name, file, options };
    const claim = new Claim(terms, this.#program(terms), () => this.#claims.delete(claim));
    this.#claims.add(claim);
    return claim;
  }

  async run(
    owner: ProgramOwner,
    file: string,
    args: readonly string[],
    options: RunOptions,
  ): Promise<RunResult> {
    this.#requireHere();
    requireAbsolute(owner, file);
    const label = `${basename(file)} of ${owner.id}`;
    const ends = [owner.scope.signal, this.#leaving.signal];
    return await runOnce({
      label,
      file,
      args,
      options,
      cwd: owner.dataDir,
      note: (pid) => this.#note(`${owner.id}.run-${pid}`),
      ends,
    });
  }

  /** Ends what an earlier process of svc has left behind; no program starts before. */
  async sweep(): Promise<void> {
    try {
      await endLeftovers(this.#options.folder, this.#options.log);
    } finally {
      this.#resolveSwept();
    }
  }

  /** Hands running programs to another generation, or stops them. */
  async leave(successor: Pick<Runner, 'adopt'> | undefined): Promise<void> {
    this.#leaving.abort();
    const programs = [...this.#claims];
    this.#claims.clear();
    await Promise.all(
      programs.map((claim) =>
        successor === undefined ? claim.stop() : claim.leave(() => successor.adopt(claim)),
      ),
    );
  }

  adopt(claim: Claim): void {
    this.#claims.add(claim);
    claim.goOn(this.#program(claim.terms), () => this.#claims.delete(claim));
  }

  #program({ owner, name, file, options }: Claim['terms']): Program {
    const { clock, random, restart } = this.#options;
    const place = `${owner.id}.${name}`;
    const program: Program = new Program({
      label: `program ${name} of ${owner.id}`,
      file,
      options,
      cwd: owner.dataDir,
      note: this.#note(place),
      log: owner.log,
      clock,
      restart: { ...programPatience, ...restart },
      random,
      apart: this.#apart,
      turn: () => this.#turn(place, program.ended),
    });
    return program;
  }

  /** Resolves once everything that was in the place before has ended. */
  async #turn(place: string, end: Promise<void>): Promise<void> {
    const before = this.places.get(place);
    const whole = Promise.all([before, end]);
    this.places.set(place, whole);
    void whole.then(() => {
      if (this.places.get(place) === whole) {
        this.places.delete(place);
      }
    });
    await Promise.all([before, this.#swept]);
  }

  #requireHere(): void {
    if (this.#leaving.signal.aborted) {
      throw errors.being_replaced({ retryAfterSeconds: 1 });
    }
  }

  #note(name: string): string {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    return join(this.#options.folder, `${name}.json`);
  }
}

function requireAbsolute({ id }: ProgramOwner, file: string): void {
  if (!isAbsolute(file)) {
    throw errors.path_not_absolute({ id, file });
  }
}

function runnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not ours to run: the next folder may have it.
    return false;
  }
}
