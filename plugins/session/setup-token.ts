import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';

import { type Clock, type Ids, SvcError } from 'svc/sdk';

import type { DirectoryContract } from '../iam/contract.ts';
import { digest } from './digest.ts';
import { setupTokenMs } from './lifetimes.ts';
import type { Store } from './store.ts';

/** The one-time token that makes the first administrator. It stands in a file for whoever can read the data folder. */
export interface SetupToken {
  /** The token that is waiting to be used, in plain text; undefined once there is an administrator. */
  readonly waiting: string | undefined;
  /** Brings table and file in line with the accounts: a good token while there is no administrator, none afterwards. */
  settle(): Promise<void>;
  /** Throws unless this is the waiting token; it stays good until `spend`. */
  assert(token: string): Promise<void>;
  /** Uses it up; joins the write in which the administrator comes into being. */
  spend(token: string): Promise<void>;
}

export interface SetupTokenParts {
  readonly store: Store;
  readonly directory: DirectoryContract;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly file: string;
}

const prefix = 'svc_setup_';

export function createSetupToken({ store, directory, clock, ids, file }: SetupTokenParts): SetupToken {
  let waiting: string | undefined;

  const isGood = async (token: string | undefined): Promise<boolean> => {
    const row = await store.read.setupToken();
    return token !== undefined && row !== undefined && row.hash === digest(token) && row.expires_at > clock.now();
  };

  return {
    get waiting() {
      return waiting;
    },

    async settle() {
      if (await directory.hasAdmin()) {
        waiting = undefined;
        rmSync(file, { force: true });
        if (await store.read.setupToken()) {
          await store.write((rows) => rows.dropSetupToken());
        }
        return;
      }
      const written = readToken(file);
      if (await isGood(written)) {
        waiting = written;
        return;
      }
      // Table first: a token that is only in the file would be promised and then refused.
      const fresh = prefix + ids.token(32);
      await store.write((rows) => rows.setSetupToken(digest(fresh), clock.now() + setupTokenMs));
      writeToken(file, fresh);
      waiting = fresh;
    },

    async assert(token) {
      if (await directory.hasAdmin()) {
        throw new SvcError('conflict', 'set-up is over: there is an administrator already, who can make more accounts');
      }
      if (!(await isGood(token))) {
        throw new SvcError('unauthorized', `the set-up token is not valid or has expired; the current one stands in ${fileName} of the data folder`);
      }
    },

    spend: (token) => store.write((rows) => rows.spendSetupToken(digest(token), clock.now())),
  };
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

/** Readable by the owner only from its first byte on, and whole or not there at all. */
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
