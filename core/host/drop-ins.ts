import { resolve, sep } from 'node:path';

import { type Clock, isSvcError, type Logger, type MaybePromise, type Persona, type PromptSkill, timestamp } from '../sdk/index.ts';
import { DropIn, type DropInFile } from './drop-in.ts';
import { type DropInRoot, scan } from './scan.ts';

/** Everything good that lies in the folders at this moment. */
export interface DropInEntries {
  readonly personas: readonly Persona[];
  readonly skills: readonly PromptSkill[];
}

export interface DropInOptions {
  /** Absolute paths; of two files that use one name, the one in the earlier root serves. */
  readonly roots: { readonly agents: readonly string[]; readonly skills: readonly string[] };
  /** Roots that ship with the product: their personas are built in. */
  readonly builtinRoots?: readonly string[];
  /**
   * Puts the complete set into the registry, each time it is another one. For names that a plugin owns it throws a
   * conflict whose details point at them (`/personas/<name>`, `/skills/<key>`) and is then called without those.
   */
  readonly publish: (entries: DropInEntries) => MaybePromise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DropIns {
  /** Reads everything, whatever is known already. */
  load(): Promise<void>;
  /**
   * Looks again where `paths` point: files, or roots to read all of them anew. An empty set only settles
   * the names again, for when a plugin has come or gone. Resolves once the outcome serves.
   */
  refresh(paths: ReadonlySet<string>): Promise<void>;
  list(): DropInFile[];
  /** Ends the work at hand; nothing is read or published afterwards. */
  close(): Promise<void>;
}

/** What is known of one folder. */
interface Folder {
  readonly root: DropInRoot;
  files: ReadonlyMap<string, DropIn>;
  problem: string | undefined;
  problemSince: number;
}

const maxPaths = 1_000;

/** Keeps what serves equal to what lies in the folders: personas in `agents`, prompt skills in `skills`. */
export function createDropIns({ roots, builtinRoots = [], publish, clock, log }: DropInOptions): DropIns {
  const folders = foldersOf(roots, new Set(builtinRoots.map((path) => resolve(path))));
  const rootPaths = folders.map(({ root }) => root.path);
  let served: DropInEntries = { personas: [], skills: [] };
  let told = new Map<string, DropInFile>();
  let running: Promise<void> = Promise.resolve();
  let waiting: { paths: Set<string>; readonly done: Promise<void> } | undefined;
  let closed = false;
}
