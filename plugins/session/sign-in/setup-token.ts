import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';

import type { DirectoryContract } from 'svc/contracts/iam';
import type { Clock, Ids } from 'svc/sdk';

import { digest } from '../store/digest.ts';
import { setupTokenMs } from '../store/lifetimes.ts';
import type { Store } from '../store/store.ts';
import { errors } from './errors.ts';

export interface SetupTokenParts {
  readonly store: Store;
  readonly directory: DirectoryContract;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly file: string;
}

const prefix = 'svc_setup_';

/**
 * One-time token that creates the first administrator. It is in a file, for a person who can read
 * the data folder.
 */
export class SetupToken {
  readonly #parts: SetupTokenParts;
  #waiting: string | undefined;

  constructor(parts: SetupTokenParts) {
    this.#parts = parts;
  }

  /** The token that is waiting to be used, in plain text; undefined once there is an administrator. */
  get waiting(): string | undefined {
    return this.#waiting;
  }

  /**
   * The line of the start banner that makes the first administrator; copied, completed and run. Its password is too short to be
   * accepted, so that no account gets the one that is printed here.
   */
  bannerLine(url: string): string | undefined {
    const body =
      this.#waiting &&
      JSON.stringify({ token: this.#waiting, email: 'you@example.org', password: 'CHANGE-ME' });
    return (
      body &&
      `Set up   curl ${url}/api/v1/auth/setup -H 'Content-Type: application/json' -d '${body}'`
    );
  }

  /**
   * Aligns table and file with the accounts: a valid token while there is no administrator, none
   * afterwards.
   */
  async settle(): Promise<void> {
    const { store, directory, clock, ids, file } = this.#parts;
    if (await directory.hasAdmin()) {
      this.#waiting = undefined;
      rmSync(file, { force: true });
      if (await store.read.setupToken.find()) {
        await store.write((rows) => rows.setupToken.remove());
      }
      return;
    }
    const written = readToken(file);
    if (await this.#isGood(written)) {
      this.#waiting = written;
      return;
    }
    // Table first: a token that is only in the file would be promised and then refused.
    const fresh = prefix + ids.token(32);
    await store.write((rows) => rows.setupToken.set(digest(fresh), clock.now() + setupTokenMs));
    writeToken(file, fresh);
    this.#waiting = fresh;
  }

  /** Throws unless this is the waiting token; it stays good until `spend`. */
  async assert(token: string): Promise<void> {
    if (await this.#parts.directory.hasAdmin()) {
      throw errors.set_up_over();
    }
    if (!(await this.#isGood(token))) {
      throw errors.set_up_token_invalid({ file: fileName });
    }
  }

  /** Uses it up; joins the write in which the administrator comes into being. */
  spend(token: string): Promise<void> {
    const { store, clock } = this.#parts;
    return store.write((rows) => rows.setupToken.spend(digest(token), clock.now()));
  }

  async #isGood(token: string | undefined): Promise<boolean> {
    const { store, clock } = this.#parts;
    const row = await store.read.setupToken.find();
    return (
      token !== undefined &&
      row !== undefined &&
      row.hash === digest(token) &&
      row.expires_at > clock.now()
    );
  }
}

const fileName = 'plugins/session/setup-token';

function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** Writes a file readable by the owner only from its first byte on, and atomically. */
function writeToken(file: string, token: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const handle = openSync(draft, 'wx', 0o600);
  try {
    writeSync(handle, `${token}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
}
