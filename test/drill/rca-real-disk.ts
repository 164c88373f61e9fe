import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const sizeMiB = 64;

/** A small file system of its own, in a file; a plain folder where the kernel lends no loop device. */
export class Disk {
  readonly folder: string;
  readonly #image: string;
  readonly #backup: string;
  #filling: ChildProcess | undefined;
  isOwn = false;

  constructor(folder: string, image: string) {
    this.folder = folder;
    this.#image = image;
    this.#backup = join(folder, 'forgotten-backup');
  }

  mount(): void {
    mkdirSync(this.folder, { recursive: true });
    this.unmount();
    if (!existsSync(this.#image)) {
      run('truncate', '-s', `${sizeMiB}M`, this.#image);
      run('mkfs.ext4', '-q', '-m', '0', this.#image);
    }
    this.isOwn = run('mount', '-o', 'loop', this.#image, this.folder);
    this.empty();
  }

  /** Takes every block that is left or becomes free, as a log does that nobody rotates. */
  fill(): void {
    this.#filling = spawn(
      'sh',
      ['-c', `while :; do cat /dev/zero >> ${this.#backup}; sleep 0.1; done`],
      { stdio: 'ignore', detached: true },
    );
  }

  empty(): void {
    if (this.#filling?.pid !== undefined) {
      process.kill(-this.#filling.pid, 'SIGKILL');
      this.#filling = undefined;
    }
    rmSync(this.#backup, { force: true });
  }

  unmount(): void {
    this.empty();
    run('umount', this.folder);
    this.isOwn = false;
  }
}

/** Returns whether a control group was told something; kernels differ in what they lend. */
export function tell(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch {
    // No such control, or not ours to turn: the caller says which fault the kernel does not lend.
    return false;
  }
}

const run = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { env: { PATH: '/usr/sbin:/sbin:/usr/bin:/bin' } }).status === 0;
