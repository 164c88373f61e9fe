import { isIP } from 'node:net';

import type { Call, Option } from './command.ts';
import { unreachable, usageFailure } from './failure.ts';
import type { ApiClient } from './api-client.ts';
import { currentProfile, defaultProfile, findProfile } from './profiles.ts';
import type { RunningSvc } from './running.ts';
import type { Shell } from './shell.ts';

/** Options for which svc a command talks to, and as whom. */
export const clientOptions: Readonly<Record<'profile' | 'url' | 'token' | 'insecure', Option>> = {
  profile: { value: 'name', about: 'use the account signed in with "svc login --profile <name>"' },
  url: { value: 'url', about: 'address of the svc server to call; requires --token' },
  token: { value: 'token', about: 'API token to sign in with' },
  insecure: {
    about: 'allow sending the token to another machine over unencrypted HTTP',
  },
};

/**
 * Opens a client as the named profile, else as the default profile that is signed in, else as the
 * operator of the data folder. Naming the data folder means its operator.
 */
export async function openClient(call: Call, shell: Shell): Promise<ApiClient> {
  const [profile, url, token] = [call.value('profile'), call.value('url'), call.value('token')];
  if (token !== undefined) {
    hideArguments();
    assertAlone(call, 'token', ['profile']);
    const address = url === undefined ? (await localSvc(shell)).url : checkedUrl(url, call);
    return shell.connect({ url: address, token: checkedToken(token) });
  }
  if (url !== undefined) {
    throw usageFailure(
      `--url needs --token; to sign in with a password: svc login --url ${checkedUrl(url, call)}`,
    );
  }
  if (profile !== undefined) {
    assertAlone(call, 'profile', ['data']);
    return await openProfile(profile, call, shell);
  }
  return (await isSignedIn(call, shell))
    ? await openProfile(defaultProfile, call, shell)
    : shell.connect(await localSvc(shell));
}

/** The svc that serves the data folder; throws where none does. */
export async function localSvc(shell: Shell): Promise<RunningSvc> {
  const running = await shell.running();
  if (!running) {
    throw unreachable(
      `no svc is running with the data folder ${await shell.dataDir()}: start it with "svc serve", or name another folder with --data`,
    );
  }
  return running;
}

/**
 * Returns whether the default profile applies, which requires that no data folder was named; one
 * from the environment must belong to the same svc.
 */
async function isSignedIn(call: Call, shell: Shell): Promise<boolean> {
  const profile = call.has('data') ? undefined : findProfile(defaultProfile, call.environment);
  const folder = call.environment['SVC_DATA_DIR'];
  if (profile === undefined || folder === undefined || folder === '') {
    return profile !== undefined;
  }
  const local = await shell.running();
  if (local !== undefined && local.url !== profile.url) {
    throw usageFailure(
      `SVC_DATA_DIR names the svc at ${local.url}, but "svc login" the one at ${profile.url}: add --data ${folder} or --profile ${defaultProfile} to choose`,
    );
  }
  return true;
}

/** Returns whether the command refers to a local data folder that no svc serves at the moment. */
export async function isIdleFolder(call: Call, shell: Shell): Promise<boolean> {
  const named = ['profile', 'url', 'token'].some((option) => call.has(option));
  return !named && !(await isSignedIn(call, shell)) && (await shell.running()) === undefined;
}

async function openProfile(name: string, call: Call, shell: Shell): Promise<ApiClient> {
  const saved = findProfile(name, call.environment);
  if (!saved) {
    throw usageFailure(`there is no profile "${name}": sign in with "svc login --profile ${name}"`);
  }
  checkedUrl(saved.url, call);
  const { url, access_token: token } = await currentProfile(name, call.environment, shell.connect);
  return shell.connect({ url, token });
}

/** The address without anything after its port; refused where a secret could be read on its way there. */
export function checkedUrl(text: string, call: Call): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // What was typed is not repeated: it may hold a password.
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw usageFailure(
      '--url must be like https://svc.example.org or http://127.0.0.1:8080, without user name or path',
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !call.has('insecure')) {
    throw usageFailure(
      `svc does not send secrets to ${url.host} over plain http, where others can read them: use https, or add --insecure to accept that`,
    );
  }
  return url.origin;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

function checkedToken(token: string): string {
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) {
    throw usageFailure('--token must be one token as "svc token create" prints it, without spaces');
  }
  return token;
}

/** A token that was typed is no longer to be seen by everybody who lists the processes. */
function hideArguments(): void {
  process.title = 'svc';
}

function assertAlone(call: Call, option: string, others: readonly string[]): void {
  const other = others.find((name) => call.has(name));
  if (other !== undefined) {
    throw usageFailure(`--${option} and --${other} exclude each other: leave one out`);
  }
}
