import { basename, dirname, resolve, sep } from 'node:path';

import { type Clock, type DropInStatus, isSvcError, type Logger, type MaybePromise } from '../sdk/index.ts';
import { DropIn } from './drop-in.ts';
import { claimNames, type DropInEntries, entriesOf, sameEntries, yieldNames } from './drop-in-names.ts';
import { type DropInRoot, scan } from './scan.ts';
import { Serial } from './serial.ts';

export interface DropInOptions {
  /** Absolute paths; of two files that use one name, the one in the earlier root serves. */
  readonly roots: { readonly agents: readonly string[]; readonly skills: readonly string[] };
  /** Roots that ship with the product: their personas are built in. */
  readonly builtinRoots?: readonly string[];
  /**
   * Puts the complete set into the registry, each time it is another one. For names that a plugin owns it throws a
   * conflict whose details point at them (`/personas/<name>`, `/skills/<key>`), and is called again without those.
   */
  readonly publish: (entries: DropInEntries) => MaybePromise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DropIns {
  /** Reads everything anew. */
  load(): Promise<void>;
  /**
   * Looks again where `paths` point: at files, or at roots, which are then read as a whole. An empty set only
   * settles the names again, for when a plugin has come or gone. Resolves once the outcome serves.
   */
  refresh(paths: ReadonlySet<string>): Promise<void>;
  list(): DropInStatus[];
  /** Ends the work at hand; nothing is read or published afterwards. */
  close(): Promise<void>;
}

/** What is known of one root. */
interface Folder {
  readonly root: DropInRoot;
  /** By path, in the order of the names. */
  files: ReadonlyMap<string, DropIn>;
  problem: { readonly error: string; readonly since: number } | undefined;
}

const maxHints = 1_000;

/** Keeps what serves equal to what lies in the folders: personas in `agents`, prompt skills in `skills`. */
export function createDropIns({ roots, builtinRoots = [], publish, clock, log }: DropInOptions): DropIns {
  const folders = foldersOf(roots, builtinRoots);
  const rootPaths = folders.map(({ root }) => root.path);
  let published: DropInEntries = { personas: [], skills: [] };
  let told: readonly DropInStatus[] = [];
  let hints = new Set<string>();
  let closed = false;

  const passes = new Serial(async () => {
    const paths = hints;
    hints = new Set();
    for (const folder of folders) {
      if ([...paths].some((path) => `${path}${sep}`.startsWith(`${folder.root.path}${sep}`))) {
        await visit(folder, paths);
      }
    }
    try {
      await serve();
    } finally {
      const now = list();
      tellChanges(log, told, now);
      told = now;
    }
  });

  const refresh = async (paths: Iterable<string>): Promise<void> => {
    if (closed) {
      return;
    }
    for (const path of paths) {
      hints.add(path);
    }
    if (hints.size > maxHints) {
      hints = new Set(rootPaths);
    }
    await passes.request();
  };

  const visit = async (folder: Folder, paths: ReadonlySet<string>): Promise<void> => {
    const { found, problem } = await scan(folder.root);
    if (folder.problem?.error !== problem) {
      folder.problem = problem === undefined ? undefined : { error: problem, since: clock.now() };
    }
    // A folder that cannot be read at the moment keeps what it has; one that is gone has nothing.
    if (found) {
      const files = new Map<string, DropIn>();
      for (const { file, name, stamp } of found) {
        const dropIn = folder.files.get(file) ?? new DropIn(folder.root, file, name);
        if (!dropIn.isAt(stamp) || [file, dirname(file), folder.root.path].some((path) => paths.has(path))) {
          await dropIn.read(stamp, clock.now());
        }
        files.set(file, dropIn);
      }
      folder.files = files;
    }
  };

  /** Publishes whatever is good and has its name to itself. */
  const serve = async (): Promise<void> => {
    const claims = claimNames(folders.flatMap((folder) => [...folder.files.values()]));
    while (!closed && !sameEntries(entriesOf(claims), published)) {
      const entries = entriesOf(claims);
      try {
        await publish(entries);
        published = entries;
      } catch (error) {
        if (!isSvcError(error) || error.code !== 'conflict' || !yieldNames(claims, error)) {
          throw error;
        }
      }
    }
  };

  const list = (): DropInStatus[] =>
    folders.flatMap(({ root, problem, files }) => [...(problem ? [folderEntry(root, problem)] : []), ...[...files.values()].map((file) => file.describe())]);

  return {
    load: () => refresh(rootPaths),
    refresh,
    list,
    async close() {
      closed = true;
      await passes.idle();
    },
  };
}

/** One line in the log for each file that came, went, broke or was repaired. */
function tellChanges(log: Logger, before: readonly DropInStatus[], now: readonly DropInStatus[]): void {
  const earlier = new Map(before.map((entry) => [entry.file, entry]));
  for (const { kind, name, file, error, loaded_at } of now) {
    const last = earlier.get(file);
    earlier.delete(file);
    if (error !== undefined && error !== last?.error) {
      log.warn({ file }, error);
    } else if (error === undefined && (last?.error !== undefined || loaded_at !== last?.loaded_at)) {
      log.info({ file }, `${kind} "${name}" serves`);
    }
  }
  for (const { kind, name, file } of earlier.values()) {
    log.info({ file }, `${kind} "${name}" is withdrawn`);
  }
}

function foldersOf(roots: DropInOptions['roots'], builtinRoots: readonly string[]): Folder[] {
  const builtin = new Set(builtinRoots.map((path) => resolve(path)));
  const unique = (paths: readonly string[]): string[] => [...new Set(paths.map((path) => resolve(path)))];
  const folder = (kind: DropInRoot['kind'], path: string): Folder => ({
    root: { kind, path, source: builtin.has(path) ? 'builtin' : 'disk' },
    files: new Map(),
    problem: undefined,
  });
  return [...unique(roots.agents).map((path) => folder('persona', path)), ...unique(roots.skills).map((path) => folder('skill', path))];
}

const folderEntry = ({ kind, path }: DropInRoot, { error, since }: NonNullable<Folder['problem']>): DropInStatus => ({
  kind,
  name: basename(path),
  file: path,
  state: 'broken',
  error,
  loaded_at: undefined,
  changed_at: since,
});
