import { createHash, type KeyObject } from 'node:crypto';
import { chmodSync, createReadStream, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { RunOptions, RunResult } from 'svc/contracts/programs';
import type { UpgradeOrder } from 'svc/edge-protocol';

import { move, syncPath } from './durable.ts';
import { errors as edgeUpgradeErrors } from './errors.ts';
import { versionForm } from './order.ts';
import { assertSigned } from './signature.ts';

const selfTestMs = 30_000;
const maxSaidBytes = 64 * 1024;
const program = 'svc';

type RunProgram = (
  file: string,
  args: readonly string[],
  options: RunOptions,
) => Promise<RunResult>;

/** Staging area `<data>/versions`: a folder per version, and one for downloads. */
export class Staging {
  readonly #dataDir: string;
  readonly #root: string;
  readonly #run: RunProgram;
  readonly #key: KeyObject | undefined;

  constructor(dataDir: string, run: RunProgram, key: KeyObject | undefined) {
    this.#dataDir = dataDir;
    this.#root = join(dataDir, 'versions');
    this.#run = run;
    this.#key = key;
  }

  /** Returns the download path of the package with this digest; deletes downloads of others. */
  fileFor(sha256: string): string {
    const folder = join(this.#root, '.new');
    const file = join(folder, `${program}.${sha256.slice(0, 16)}`);
    if (!existsSync(file)) {
      rmSync(folder, { recursive: true, force: true });
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return file;
  }

  discard(): void {
    rmSync(join(this.#root, '.new'), { recursive: true, force: true });
  }

  /** Verifies that the file is what was ordered, and signed with the release key. */
  async verify(file: string, { sha256, signature }: UpgradeOrder): Promise<void> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk as Uint8Array);
    }
    const found = hash.digest('hex');
    if (found !== sha256) {
      throw edgeUpgradeErrors.sha256_mismatch({ found });
    }
    assertSigned(this.#key, sha256, signature);
    chmodSync(file, 0o700);
    syncPath(file);
  }

  /** Makes a program prove that it could be the agent of this host; returns its version. */
  async selfTest(file: string, signal: AbortSignal): Promise<string> {
    const { code, output, errors, cut } = await this.#run(
      file,
      ['edge', '--self-test', '--data', this.#dataDir, '--json'],
      {
        env: {
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          HOME: this.#dataDir,
        },
        timeoutMs: selfTestMs,
        maxBytes: maxSaidBytes,
        signal,
      },
    );
    const said = Buffer.from(output).toString('utf8');
    if (cut !== undefined || code !== 0) {
      const how =
        cut === 'time'
          ? `took longer than ${selfTestMs / 1_000} s`
          : cut === 'size'
            ? 'sent too much output'
            : `ended with ${code ?? 'a signal'}`;
      const words = `${said} ${errors}`.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
      throw edgeUpgradeErrors.self_test_failed({
        how,
        detail: words === '' ? '' : `: ${words.slice(0, 600)}`,
      });
    }
    const version = versionIn(said);
    if (version === undefined) {
      throw edgeUpgradeErrors.self_test_mute();
    }
    return version;
  }

  /** Gives it its place; the same program again has the same. */
  place(file: string, version: string, sha256: string): string {
    const folder = `${version.replace(/^v/, '')}-${sha256.slice(0, 12)}`;
    const at = join(this.#root, folder);
    if (!existsSync(join(at, program))) {
      rmSync(at, { recursive: true, force: true });
      const draft = join(this.#root, '.placed');
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft, { mode: 0o700 });
      move(file, join(draft, program));
      move(draft, at);
    }
    this.discard();
    return folder;
  }

  /** Deletes everything but these. */
  prune(kept: readonly string[]): void {
    for (const name of existsSync(this.#root) ? readdirSync(this.#root) : []) {
      if (!kept.includes(name)) {
        rmSync(join(this.#root, name), { recursive: true, force: true });
      }
    }
  }
}

function versionIn(said: string): string | undefined {
  try {
    const { version } = JSON.parse(said) as { version?: unknown };
    return typeof version === 'string' && versionForm.test(version) ? version : undefined;
  } catch {
    // Text instead of the requested document: not a version of this program.
    return undefined;
  }
}
