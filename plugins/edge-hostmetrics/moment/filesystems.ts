import { type After, type MachineFiles, SlowCalls } from 'svc/probe';

import type { NameFilter } from './name-filter.ts';

interface Mount {
  readonly device: string;
  readonly mountpoint: string;
  readonly fstype: string;
  readonly readonly: boolean;
}

export interface FsNumbers {
  readonly bsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly files: number;
  readonly ffree: number;
}

/** A mounted file system; `numbers` is undefined when it could not be asked, or did not answer in time. */
export interface Filesystem extends Mount {
  readonly numbers: FsNumbers | undefined;
}

export interface FilesystemOptions {
  readonly files: MachineFiles;
  readonly statfs: (path: string) => Promise<FsNumbers>;
  readonly after: After;
  readonly deadlineMs: number;
  readonly mountExclude: NameFilter;
  readonly typeExclude: NameFilter;
  /** Called once when a file system stops responding, and once when it responds again. */
  readonly onStuck: (mountpoint: string, stuck: boolean) => void;
}

const remote =
  /^(?:nfs\d?|cifs|smb\w*|ceph|glusterfs|9p|afs|lustre|beegfs|gpfs|ocfs2|gfs2|ncp|davfs|autofs|fuse(?:blk|\..+)?)$/;

/** Max mounts measured: a host of containers may have thousands. */
const maxMeasured = 500;
const maxMounts = 10_000;

/**
 * File systems of the host with their usage. One backed by a server or a user's program may never
 * answer; those and the local ones have one slot each, so that a dead server blocks a single thread
 * and hides no disk.
 */
export class Filesystems {
  readonly #options: FilesystemOptions;
  readonly #local: SlowCalls;
  readonly #remote: SlowCalls;
  readonly #silent = new Set<string>();

  constructor(options: FilesystemOptions) {
    this.#options = options;
    this.#local = new SlowCalls({ slots: 1, deadlineMs: options.deadlineMs, after: options.after });
    this.#remote = new SlowCalls({
      slots: 1,
      deadlineMs: options.deadlineMs,
      after: options.after,
    });
  }

  /** Threads of the runtime that are held at this moment. */
  get held(): number {
    return this.#local.held + this.#remote.held;
  }

  async measure(): Promise<readonly Filesystem[]> {
    return Promise.all(
      this.#mounts().map(async (mount) => ({ ...mount, numbers: await this.#numbers(mount) })),
    );
  }

  /**
   * Returns the mounts as the first process sees them, if permitted: a service manager may show
   * this process fewer.
   */
  #mounts(): readonly Mount[] {
    const { files, mountExclude, typeExclude } = this.#options;
    const text = files.text('/proc/1/mounts') ?? files.text('/proc/self/mounts') ?? '';
    return parseMounts(text)
      .filter(
        ({ mountpoint, fstype }) =>
          !mountExclude.excludes(mountpoint) &&
          (mountpoint === '/' || !typeExclude.excludes(fstype)),
      )
      .slice(0, maxMeasured);
  }

  async #numbers({ mountpoint, fstype }: Mount): Promise<FsNumbers | undefined> {
    const { statfs, files, onStuck } = this.#options;
    const calls = remote.test(fstype) ? this.#remote : this.#local;
    const outcome = await calls.run(mountpoint, () => statfs(files.path(mountpoint)));
    const stuck = outcome.state === 'stuck';
    if (stuck !== this.#silent.has(mountpoint) && outcome.state !== 'busy') {
      if (stuck) {
        this.#silent.add(mountpoint);
      } else {
        this.#silent.delete(mountpoint);
      }
      onStuck(mountpoint, stuck);
    }
    return outcome.state === 'done' ? outcome.value : undefined;
  }
}

/**
 * Returns the used blocks as df computes them: those reserved for the superuser are neither used
 * nor free.
 */
export function usedOf({ blocks, bfree, bavail }: FsNumbers): number | undefined {
  const used = blocks - bfree;
  return used + bavail > 0 ? (100 * used) / (used + bavail) : undefined;
}

/**
 * Parses mounts; of several on one mount point the last hides the others, and is the only one that
 * can be measured.
 */
function parseMounts(text: string): readonly Mount[] {
  const visible = new Map<string, Mount>();
  for (const line of text.split('\n')) {
    const [device, mountpoint, fstype, options] = line.split(' ');
    if (options === undefined || visible.size >= maxMounts) {
      continue;
    }
    const point = plain(mountpoint!);
    visible.delete(point);
    visible.set(point, {
      device: plain(device!),
      mountpoint: point,
      fstype: plain(fstype!),
      readonly: options.split(',').includes('ro'),
    });
  }
  return [...visible.values()];
}

/** The kernel writes blanks, line ends, backslashes and `#` as three octal digits of a byte; the bytes are UTF-8. */
const plain = (field: string): string =>
  field.includes('\\')
    ? field.replaceAll(/(?:\\[0-7]{3})+/g, (bytes) =>
        Buffer.from(
          bytes
            .slice(1)
            .split('\\')
            .map((octal) => Number.parseInt(octal, 8) & 0xff),
        ).toString('utf8'),
      )
    : field;
