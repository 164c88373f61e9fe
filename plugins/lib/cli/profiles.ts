import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

import { timestamp } from 'svc/sdk';
import type { ApiClient, Reachable } from './api-client.ts';
import type { Environment } from './command.ts';
import { errors } from './errors.ts';
import { asFailure, Failure, usageFailure } from './failure.ts';
import { withFileLock } from './file-lock.ts';

/** Somebody who is signed in to a svc. */
export interface Profile {
  readonly url: string;
  readonly email: string;
  readonly access_token: string;
  /** Good once: the next one must be on the disk before anything else happens. */
  readonly refresh_token: string;
  readonly expires_at: string;
}

/** Answer of svc to a successful sign-in. */
export interface SignedIn {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly user: { readonly email: string; readonly role: string };
}

export const defaultProfile = 'default';
/**
 * Time before its expiry at which an access token is replaced, since the command that uses it takes
 * time too.
 */
const marginMs = 30_000;
/** Others wait for the lock meanwhile. */
const refreshWithinMs = 15_000;

export const findProfile = (name: string, environment: Environment): Profile | undefined =>
  read(fileOf(environment)).get(checkedName(name));

export const profileOf = (
  url: string,
  { access_token, refresh_token, expires_in, user }: SignedIn,
): Profile => ({
  url,
  email: user.email,
  access_token,
  refresh_token,
  expires_at: timestamp(Date.now() + expires_in * 1000),
});

export async function saveProfile(
  name: string,
  profile: Profile,
  environment: Environment,
): Promise<void> {
  await change(environment, (profiles) => void profiles.set(checkedName(name), profile));
}

export async function removeProfile(name: string, environment: Environment): Promise<void> {
  await change(environment, (profiles) => void profiles.delete(name));
}

/** Asks without anybody's rights. */
type Connect = (svc: Reachable) => ApiClient;

/** The profile with an access token that is good for a while. */
export async function currentProfile(
  name: string,
  environment: Environment,
  connect: Connect,
): Promise<Profile> {
  const saved = findProfile(name, environment);
  if (saved && isCurrent(saved)) {
    return saved;
  }
  return await change(environment, async (profiles) => {
    // Read again under the lock: another command may have been first.
    const latest = profiles.get(name) ?? gone(name);
    const current = isCurrent(latest) ? latest : await refreshed(name, latest, connect);
    profiles.set(name, current);
    return current;
  });
}

const isCurrent = ({ expires_at: end }: Profile): boolean =>
  Date.parse(end) - marginMs > Date.now();

async function refreshed(
  name: string,
  { url, email, refresh_token }: Profile,
  connect: Connect,
): Promise<Profile> {
  try {
    return profileOf(
      url,
      await connect({ url }).post<SignedIn>(
        '/api/v1/auth/refresh',
        { refresh_token },
        refreshWithinMs,
      ),
    );
  } catch (error) {
    const { code, exitCode } = asFailure(error);
    if (code !== 'unauthorized') {
      throw error;
    }
    throw new Failure(
      exitCode,
      code,
      `the session of ${email} at ${url} has expired: sign in again with "svc login${flagOf(name)}"`,
      { cause: error },
    );
  }
}

/** Returns the flag by which a command line selects this profile. */
export const flagOf = (name: string): string =>
  name === defaultProfile ? '' : ` --profile ${name}`;

function gone(name: string): never {
  throw new Failure(
    1,
    'not_found',
    `the profile "${name}" was just removed: sign in with "svc login${flagOf(name)}"`,
  );
}

export function checkedName(name: string): string {
  if (!/^[A-Za-z0-9][\w.-]{0,39}$/.test(name)) {
    throw usageFailure(
      'a profile name must be 1 to 40 letters, digits, dots, dashes and underscores, starting with a letter or digit',
    );
  }
  return name;
}

function fileOf(environment: Environment): string {
  const configured = environment['XDG_CONFIG_HOME'] ?? '';
  return join(
    isAbsolute(configured) ? configured : join(homeFolder(), '.config'),
    'svc',
    'profiles.json',
  );
}

/** Folder of this user; the root where the system knows none. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** Changes the file while no other command does, so that neither a refresh token is shown twice nor a profile lost. */
async function change<T>(
  environment: Environment,
  decide: (profiles: Map<string, Profile>) => T | Promise<T>,
): Promise<T> {
  const file = fileOf(environment);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  chmodSync(dirname(file), 0o700);
  return await withFileLock(`${file}.lock`, async () => {
    const profiles = read(file);
    const before = JSON.stringify([...profiles]);
    const result = await decide(profiles);
    if (JSON.stringify([...profiles]) !== before) {
      replaceDurably(file, `${JSON.stringify(Object.fromEntries(profiles), undefined, 2)}\n`);
    }
    return result;
  });
}

/** Writes the whole text, or leaves the old one: a refresh token that is lost ends the session. */
function replaceDurably(file: string, text: string): void {
  const draft = `${file}.tmp`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function read(file: string): Map<string, Profile> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return new Map();
    }
    throw error;
  }
  const profiles = parsed(text);
  if (!profiles) {
    throw errors.profiles_damaged({ file });
  }
  return profiles;
}

function parsed(text: string): Map<string, Profile> | undefined {
  try {
    const profiles = new Map(Object.entries(JSON.parse(text) as Record<string, Profile>));
    return [...profiles.values()].every(isProfile) ? profiles : undefined;
  } catch {
    // Not JSON, or null: not ours either way.
    return undefined;
  }
}

const fields = ['url', 'email', 'access_token', 'refresh_token', 'expires_at'] as const;

const isProfile = (value: Profile | null): boolean =>
  fields.every((field) => typeof value?.[field] === 'string');
