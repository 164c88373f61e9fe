import { accessSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';

import type { Clock, Logger, ProgramOptions, RunOptions, RunResult } from '../sdk/index.ts';
import { patience, type RestartPolicy } from './backoff.ts';
import { Program } from './program.ts';
import { endLeftover } from './program-file.ts';
import { runOnce } from './run.ts';

export interface ProgramsOptions {
  /** Where it is written down which processes run, so that none outlives the house for long. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Folders where programs are found by name, as in the environment. */
  readonly path: string;
  readonly restart?: Partial<RestartPolicy>;
  readonly random?: () => number;
}

export interface ProgramClaim {
  /** Whose program it is; with `name` this is what never runs twice. */
  readonly owner: string;
  readonly name: string;
  /** Absolute path of the executable. */
  readonly file: string;
  readonly options: ProgramOptions;
  /** Its working folder. */
  readonly cwd: string;
  readonly log: Logger;
}

export interface ProgramRun {
  readonly owner: string;
  /** Absolute path of the executable. */
  readonly file: string;
  readonly args: readonly string[];
  readonly options: RunOptions;
  readonly cwd: string;
  /** Ends the program when it aborts. */
  readonly until: AbortSignal;
}

/** Foreign programs that plugins run. */
export interface Programs {
  /** Absolute path of an executable, by its name on the PATH or by its path. */
  find(name: string): string | undefined;
  /** A program that starts when it is told to begin, after the one of its name before it has ended. */
  claim(claim: ProgramClaim): Program;
  /** A program that runs once and is not started again. */
  run(run: ProgramRun): Promise<RunResult>;
  /** Ends what an earlier process of the house has left behind. */
  sweep(): Promise<void>;
  /** Programs that run at this moment, for the census. */
  readonly size: number;
}

/** Nobody gives up on a program here: whoever wants it asks how it is. */
const programPatience: RestartPolicy = { ...patience, firstMs: 500, maxMs: 60_000, maxRestarts: Infinity };

export function createPrograms({ folder, clock, log, path, restart, random = Math.random }: ProgramsOptions): Programs {
  const alive = new Set<Program>();
  /** Resolves once the last holder of a name has ended. */
  const ends = new Map<string, Promise<void>>();

  return {
    find: (name) =>
      (isAbsolute(name)
        ? [name]
        : name.includes('/') || name === ''
          ? []
          : path
              .split(delimiter)
              .filter(isAbsolute)
              .map((one) => join(one, name))
      ).find(runnable),

    claim({ owner, name, ...claim }) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const place = `${owner}.${name}`;
      const program = new Program({
        ...claim,
        label: `program ${name} of ${owner}`,
        note: join(folder, `${place}.json`),
        clock,
        restart: { ...programPatience, ...restart },
        random,
        turn: () => {
          const before = ends.get(place) ?? Promise.resolve();
          alive.add(program);
          const end = program.ended.then(() => {
            alive.delete(program);
            if (ends.get(place) === end) {
              ends.delete(place);
            }
          });
          ends.set(place, end);
          return before;
        },
      });
      return program;
    },

    async run({ owner, file, args, options, cwd, until }) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const label = `${basename(file)} of ${owner}`;
      return await runOnce({ label, file, args, options, cwd, note: (pid) => join(folder, `${owner}.run-${pid}.json`), owner: until });
    },

    async sweep() {
      const notes = readdirIf(folder).filter((name) => name.endsWith('.json'));
      await Promise.all(notes.map((name) => endLeftover(join(folder, name), log)));
    },

    get size() {
      return [...alive].filter(({ pid }) => pid !== undefined).length;
    },
  };
}

function readdirIf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing was ever run.
    return [];
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
