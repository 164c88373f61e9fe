/** Followed folders: those in which people put files, and those that svc fills for all nodes. */
export const followedFolders: readonly string[] = [
  'agents',
  'skills',
  'packs',
  'agent-packages',
  'plugins',
];

/**
 * Folders that belong to one node: its stores of telemetry, what is derived from the database, and
 * what says something of one machine or of one run.
 */
const ofOneNode = new Set([
  'plugins/metricsdb',
  'plugins/logs',
  'plugins/traces',
  'plugins/knowledge',
  'plugins/session',
  'plugins/programs',
  'plugins/packs',
]);

/** A database in use cannot be copied as a file. */
const isInUse = /\.db(?:-wal|-shm|-journal)?$|\.(?:tmp|new)$/;
const longestPath = 400;

/** A file that all nodes have. */
export interface FollowedFile {
  /** Path below the data folder, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal digits. */
  readonly sha256: string;
}

/** Returns whether everything in a folder stays with its node. */
export const isOfOneNode = (folder: string): boolean => ofOneNode.has(folder);

/** Returns whether a path, which may come from another node, is one that all nodes have. */
export function isFollowed(path: unknown): path is string {
  if (typeof path !== 'string' || path.length > longestPath || /[\p{Cc}\\:]/u.test(path)) {
    return false;
  }
  const steps = path.split('/');
  return (
    steps.length > 1 &&
    steps.every((step) => step !== '' && step !== '.' && step !== '..') &&
    followedFolders.includes(steps[0]!) &&
    !isOfOneNode(steps.slice(0, 2).join('/')) &&
    !isInUse.test(path)
  );
}
