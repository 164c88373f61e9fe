import type { RepoRow } from '../documents/tables.ts';
import type { Clone } from './clone.ts';
import type { Remotes } from './remote.ts';
import type { RepoDocs } from './repo-docs.ts';
import { documentsIn, Skips, type TreeFile } from './tree-listing.ts';

export interface SyncProgress {
  readonly phase: 'waiting' | 'asking' | 'fetching' | 'listing' | 'reading' | 'removing';
  readonly done: number;
  readonly total: number;
}

/** Changes and omissions of a successful sync. */
export interface SyncResult {
  readonly commit: string;
  /** `rewritten`: the commit that was read before is not among the newest of the branch. */
  readonly history: 'first' | 'same' | 'forward' | 'rewritten';
  readonly added: number;
  readonly changed: number;
  readonly moved: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly skipped: Skips['shown']['counts'];
  readonly samples: Skips['shown']['samples'];
}

export interface RepoSyncParts {
  readonly remotes: Remotes;
  readonly docs: RepoDocs;
  readonly clone: Clone;
  readonly progress: (progress: SyncProgress) => void;
  readonly signal: AbortSignal;
}

const batchFiles = 100;
const batchBytes = 2 * 1024 * 1024;

/**
 * Syncs once, from finding the branch to the last document. If anything of the server fails it
 * throws and leaves the previous state.
 */
export async function syncRepo(repo: RepoRow, parts: RepoSyncParts): Promise<SyncResult> {
  const { clone, progress } = parts;
  progress({ phase: 'asking', done: 0, total: 0 });
  await clone.prepare();
  const commit = await fetched(repo, parts);
  progress({ phase: 'listing', done: 0, total: 0 });
  const skips = new Skips();
  const files = documentsIn(await clone.listing(commit, repo.path_prefix), repo.mount, skips);
  const plan = await parts.docs.plan(repo, files);
  await parts.docs.move(repo, plan.moved, skips);
  const added = await readAll(
    repo,
    commit,
    [...plan.changed, ...plan.added.map((file) => ({ file, doc: undefined }))],
    skips,
    parts,
  );
  progress({ phase: 'removing', done: 0, total: plan.removed.length });
  await parts.docs.remove(plan.removed);
  const before = repo.last_commit;
  const history =
    before === null
      ? 'first'
      : before === commit
        ? 'same'
        : (await clone.isOnwards(before, commit))
          ? 'forward'
          : 'rewritten';
  await clone.settle(commit);
  const { counts, samples } = skips.shown;
  return {
    commit,
    history,
    unchanged: plan.unchanged,
    skipped: counts,
    samples,
    added,
    changed: plan.changed.length,
    moved: plan.moved.length,
    removed: plan.removed.length,
  };
}

/** The commit of the branch, with everything of it here. */
async function fetched(
  repo: RepoRow,
  { remotes, clone, progress }: RepoSyncParts,
): Promise<string> {
  const remote = await remotes.open(repo);
  try {
    const tip = await clone.tip(remote, repo.branch);
    await remote.answered();
    if (tip === repo.last_commit && (await clone.has(tip))) {
      return tip;
    }
    progress({ phase: 'fetching', done: 0, total: 0 });
    return await clone.fetch(remote, repo.branch, (done) =>
      progress({ phase: 'fetching', done, total: 0 }),
    );
  } finally {
    await remote.close();
  }
}

type Wanted = {
  readonly file: TreeFile;
  readonly doc?: Parameters<RepoDocs['put']>[1][number]['doc'];
};

/** Reads files a few at a time, to bound memory; returns how many became new documents. */
async function readAll(
  repo: RepoRow,
  commit: string,
  wanted: readonly Wanted[],
  skips: Skips,
  { clone, docs, progress, signal }: RepoSyncParts,
): Promise<number> {
  let added = 0;
  const by = `git ${commit.slice(0, 12)}`;
  for (let at = 0; at < wanted.length;) {
    signal.throwIfAborted();
    progress({ phase: 'reading', done: at, total: wanted.length });
    const batch: Wanted[] = [];
    for (
      let bytes = 0;
      at < wanted.length &&
      batch.length < batchFiles &&
      (batch.length === 0 || bytes + wanted[at]!.file.size <= batchBytes);
      at++
    ) {
      bytes += wanted[at]!.file.size;
      batch.push(wanted[at]!);
    }
    const contents = await clone.contents(batch.map(({ file }) => file));
    added += await docs.put(
      repo,
      batch.map((one) => ({ ...one, bytes: contents.get(one.file.oid) })),
      by,
      skips,
    );
  }
  return added;
}
