import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { RunResult } from 'svc/contracts/programs';

import type { Git } from './git.ts';
import type { Remote } from './remote.ts';
import { SyncTrouble, troubleOf } from './sync-trouble.ts';

export interface CloneLimits {
  /** Max size of a repository on disk. */
  readonly bytes: number;
  readonly fetchMs: number;
  /** Max size of the list of files. */
  readonly listingBytes: number;
}

export interface CloneParts {
  readonly git: Git;
  readonly folder: string;
  readonly limits: CloneLimits;
  readonly signal: AbortSignal;
  /** Calls every so often until it is undone. */
  readonly every: (ms: number, work: () => Promise<void>) => () => void;
}

/** Commits of a branch that are fetched: enough to see whether it went on from where it was. */
const depth = 20;
const next = 'refs/svc/next';
const read = 'refs/svc/read';
const packsBeforeTidying = 12;
const lookMs = 250;
const commitId = /^[0-9a-f]{40,64}$/;

/** Bare repository without a work tree: its content never becomes a file. */
export class Clone {
  readonly #parts: CloneParts;

  constructor(parts: CloneParts) {
    this.#parts = parts;
  }

  /** Creates the clone if needed, and removes what a kill has left. */
  async prepare(): Promise<void> {
    const { folder } = this.#parts;
    if (
      existsSync(join(folder, 'HEAD')) &&
      (await this.#run(['rev-parse', '--git-dir'])).code === 0
    ) {
      await this.#clearLeftovers();
      return;
    }
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#must(['init', '--bare', '--quiet', '--template=', '--initial-branch=none']);
  }

  /** The commit that the branch is at on the server. */
  async tip(remote: Remote, branch: string): Promise<string> {
    const wanted = branch === '' ? 'HEAD' : `refs/heads/${branch}`;
    const { output } = await this.#reach(remote, [
      'ls-remote',
      '--quiet',
      '--',
      remote.url,
      wanted,
    ]);
    const line = Buffer.from(output)
      .toString('utf8')
      .split('\n')
      .find((text) => text.split('\t')[1] === wanted);
    const commit = line?.split('\t')[0] ?? '';
    if (!commitId.test(commit)) {
      throw new SyncTrouble('branch_gone', branch === '' ? 'the repository is empty' : branch);
    }
    return commit;
  }

  /** Fetches what is new on the branch; calls `onBytes` with the size on disk. */
  async fetch(remote: Remote, branch: string, onBytes: (bytes: number) => void): Promise<string> {
    const { limits, every } = this.#parts;
    const tooLarge = new AbortController();
    const stopLooking = every(lookMs, async () => {
      const bytes = await this.bytes();
      onBytes(bytes);
      if (bytes > limits.bytes) {
        tooLarge.abort();
      }
    });
    const from = branch === '' ? 'HEAD' : `refs/heads/${branch}`;
    const options = [
      '--quiet',
      '--force',
      '--no-tags',
      '--no-recurse-submodules',
      '--no-auto-maintenance',
      '--no-write-fetch-head',
      `--depth=${depth}`,
    ];
    try {
      await this.#reach(
        remote,
        ['fetch', ...options, '--', remote.url, `+${from}:${next}`],
        tooLarge.signal,
      );
    } catch (error) {
      throw tooLarge.signal.aborted
        ? new SyncTrouble('too_large', `more than ${limits.bytes} bytes`)
        : error;
    } finally {
      stopLooking();
    }
    if ((await this.bytes()) > limits.bytes) {
      throw new SyncTrouble('too_large', `more than ${limits.bytes} bytes`);
    }
    return Buffer.from(
      (await this.#must(['rev-parse', '--verify', '--end-of-options', `${next}^{commit}`])).output,
    )
      .toString('latin1')
      .trim();
  }

  /** Returns whether a commit with all its files is here, so that nothing has to be fetched. */
  async has(commit: string): Promise<boolean> {
    return (
      commitId.test(commit) &&
      (await this.#run(['rev-parse', '--verify', '--quiet', read])).code === 0 &&
      (await this.#run(['cat-file', '-e', `${commit}^{tree}`])).code === 0
    );
  }

  /** Returns whether the branch continues from a commit, as far as its newest commits tell. */
  async isOnwards(before: string, now: string): Promise<boolean> {
    return (await this.#run(['merge-base', '--is-ancestor', before, now])).code === 0;
  }

  /** Every file below a folder, as `ls-tree -z -l` lists them. */
  async listing(commit: string, folder: string): Promise<Uint8Array> {
    if (folder !== '' && (await this.#run(['cat-file', '-e', `${commit}:${folder}`])).code !== 0) {
      throw new SyncTrouble('folder_gone', folder);
    }
    const result = await this.#run(
      [
        'ls-tree',
        '-r',
        '-z',
        '-l',
        '--full-tree',
        '--end-of-options',
        folder === '' ? commit : `${commit}:${folder}`,
      ],
      {
        maxBytes: this.#parts.limits.listingBytes,
      },
    );
    if (result.cut === 'size') {
      throw new SyncTrouble('too_many_files');
    }
    if (result.code !== 0) {
      throw troubleOf(result);
    }
    return result.output;
  }

  /** The contents of files, in the order of their names in git; each name once. */
  async contents(
    files: readonly { readonly oid: string; readonly size: number }[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const maxBytes = files.reduce((sum, { size }) => sum + size + 128, 1024);
    const result = await this.#run(['cat-file', '--batch'], {
      input: Buffer.from(files.map(({ oid }) => `${oid}\n`).join('')),
      maxBytes,
    });
    if (result.code !== 0) {
      throw troubleOf(result);
    }
    return contentsIn(Buffer.from(result.output));
  }

  /** Keeps what was read, and lets older commits be deleted. */
  async settle(commit: string): Promise<void> {
    await this.#must(['update-ref', read, commit]);
    const packs = await readdir(join(this.#parts.folder, 'objects', 'pack')).catch(() => []);
    if (packs.filter((name) => name.endsWith('.pack')).length > packsBeforeTidying) {
      await this.#run(['gc', '--quiet', '--prune=now'], { timeoutMs: this.#parts.limits.fetchMs });
    }
  }

  /** Returns the size on disk, including what is still arriving. */
  async bytes(): Promise<number> {
    const folder = join(this.#parts.folder, 'objects');
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(folder, name)).then(
          ({ blocks }) => blocks * 512,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async #clearLeftovers(): Promise<void> {
    const { folder } = this.#parts;
    const names = await readdir(folder, { recursive: true });
    const left = names.filter((name) => name.endsWith('.lock') || /(?:^|\/)tmp_[^/]*$/.test(name));
    await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  }

  async #reach(remote: Remote, args: readonly string[], stop?: AbortSignal): Promise<RunResult> {
    const { limits, signal } = this.#parts;
    const result = await this.#parts.git.run(this.#parts.folder, {
      args,
      reach: remote.reach,
      timeoutMs: limits.fetchMs,
      signal: stop === undefined ? signal : AbortSignal.any([signal, stop]),
    });
    if (result.code !== 0) {
      throw troubleOf(result, limits.fetchMs);
    }
    return result;
  }

  async #must(args: readonly string[]): Promise<RunResult> {
    const result = await this.#run(args);
    if (result.code !== 0) {
      throw troubleOf(result);
    }
    return result;
  }

  #run(
    args: readonly string[],
    more: {
      readonly input?: Uint8Array;
      readonly maxBytes?: number;
      readonly timeoutMs?: number;
    } = {},
  ): Promise<RunResult> {
    return this.#parts.git.run(this.#parts.folder, { args, signal: this.#parts.signal, ...more });
  }
}

/**
 * Parses `<oid> blob <size>
 * <content>
 * `, repeated; missing ones are skipped.
 */
function contentsIn(output: Buffer): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (let at = 0; at < output.length;) {
    const line = output.indexOf(10, at);
    const [oid = '', kind, size] = output
      .toString('latin1', at, line < 0 ? output.length : line)
      .split(' ');
    at = line < 0 ? output.length : line + 1;
    if (kind === 'blob') {
      found.set(oid, output.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
  }
  return found;
}
