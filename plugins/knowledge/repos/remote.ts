import { lookup } from 'node:dns/promises';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

import { isSvcError, messageOf, type PluginContext, type Secrets } from 'svc/sdk';

import type { HostKeyRow, RepoRow } from '../documents/tables.ts';
import type { Identities } from '../identities/identities.ts';
import type { Git, Reach } from './git.ts';
import { hostLabel, parseRepoUrl, type RepoAddress } from './repo-address.ts';
import { SyncTrouble } from './sync-trouble.ts';

export interface RemoteParts {
  readonly git: Git;
  readonly identities: Identities;
  readonly secrets: Secrets;
  readonly fetch: PluginContext['fetch'];
  readonly folder: string;
  /** PEM of authorities that HTTPS servers are signed by, besides those of the machine; '' for none. */
  readonly authorities: () => string;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** The server of a repository, for one sync: checked, and called by the address that was checked. */
export interface Remote {
  readonly url: string;
  readonly reach: Reach;
  /** Notes what the server showed, once it has answered. */
  answered(): Promise<void>;
  close(): Promise<void>;
}

export const passwordPlace = (ref: string) => ({
  table: 'knowledge_repos',
  row: ref,
  column: 'password',
});

const byName = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** Opens the way to servers: the guard of addresses, credentials, and files that hold them while a sync runs. */
export class Remotes {
  readonly #parts: RemoteParts;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
  }

  /** Keys that a kill has left behind. */
  async sweep(): Promise<void> {
    await rm(this.#parts.folder, { recursive: true, force: true });
  }

  async open(repo: RepoRow): Promise<Remote> {
    const address = parseRepoUrl(repo.url);
    const ip = await this.#checked(address);
    const folder = join(this.#parts.folder, repo.ref);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      const way =
        address.kind === 'ssh'
          ? await this.#bySsh(repo, address, ip, folder)
          : await this.#byHttps(repo, address, ip, folder);
      return { url: address.url, close, ...way };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** The address that will be called: every one that the name has must be allowed. */
  async #checked({ host, port }: RepoAddress): Promise<string> {
    const found = isIP(host) === 0 ? await this.#resolved(host) : [host];
    for (const ip of found) {
      // The guard of all that svc calls judges an address before it connects; this request never does.
      await this.#parts
        .fetch(`http://${isIP(ip) === 6 ? `[${ip}]` : ip}:${port}/`, {
          signal: AbortSignal.abort(),
        })
        .catch((error: unknown) => {
          if (isSvcError(error) && error.code === 'invalid_argument') {
            throw new SyncTrouble(
              'address_refused',
              found[0] === host ? messageOf(error) : `${host}: ${messageOf(error)}`,
            );
          }
        });
    }
    return found.find((ip) => isIP(ip) === 4) ?? found[0]!;
  }

  async #resolved(host: string): Promise<readonly string[]> {
    try {
      const found = await (this.#parts.resolve ?? byName)(host);
      if (found.length > 0) {
        return found;
      }
    } catch (error) {
      throw new SyncTrouble('unreachable', `the name ${host} has no address: ${messageOf(error)}`, {
        cause: error,
      });
    }
    throw new SyncTrouble('unreachable', `the name ${host} has no address`);
  }

  async #byHttps(
    repo: RepoRow,
    { host, port }: RepoAddress,
    ip: string,
    folder: string,
  ): Promise<Pick<Remote, 'reach' | 'answered'>> {
    const config: [string, string][] = [
      [
        'http.curloptResolve',
        `${isIP(host) === 6 ? `[${host}]` : host}:${port}:${isIP(ip) === 6 ? `[${ip}]` : ip}`,
      ],
    ];
    if (repo.password !== null) {
      const password = this.#parts.secrets.open(passwordPlace(repo.ref), repo.password);
      config.push([
        'http.extraHeader',
        `Authorization: Basic ${Buffer.from(`${repo.username}:${password}`).toString('base64')}`,
      ]);
    }
    const authorities = this.#parts.authorities();
    if (authorities !== '') {
      const file = join(folder, 'authorities.pem');
      const own = await readFile('/etc/ssl/certs/ca-certificates.crt', 'utf8').catch(() => '');
      await writeFile(file, `${own}\n${authorities}\n`, { mode: 0o600 });
      config.push(['http.sslCAInfo', file]);
    }
    return { reach: { config, env: {} }, answered: async () => undefined };
  }

  async #bySsh(
    repo: RepoRow,
    address: RepoAddress,
    ip: string,
    folder: string,
  ): Promise<Pick<Remote, 'reach' | 'answered'>> {
    const identity = repo.ssh_identity_id;
    if (identity === null) {
      throw new SyncTrouble('key_refused', 'the repository has no SSH identity');
    }
    const label = hostLabel(address);
    const { privateKey, known } = await this.#parts.identities.open(identity, label);
    const [keyFile, knownFile] = [join(folder, 'key'), join(folder, 'known_hosts')];
    await writeFile(keyFile, privateKey, { mode: 0o600 });
    await writeFile(
      knownFile,
      known.map(({ algorithm, key }) => `${label} ${algorithm} ${key}\n`).join(''),
      { mode: 0o600 },
    );
    const program = this.#parts.git.find('ssh', 'openssh-client');
    return {
      reach: {
        config: [],
        env: {
          GIT_SSH_COMMAND: commandOf(program, { keyFile, knownFile, label, ip, known }),
          GIT_SSH_VARIANT: 'ssh',
        },
      },
      answered: async () => {
        const text = known.length > 0 ? '' : await readFile(knownFile, 'utf8');
        await this.#parts.identities.used(identity, label, hostKeysIn(text));
      },
    };
  }
}

interface SshWay {
  readonly keyFile: string;
  readonly knownFile: string;
  readonly label: string;
  readonly ip: string;
  readonly known: readonly HostKeyRow[];
}

/** A shell of git's reads this, so every part is quoted; paths are our own. */
function commandOf(program: string, { keyFile, knownFile, label, ip, known }: SshWay): string {
  const options = [
    ...[
      'IdentitiesOnly=yes',
      'IdentityAgent=none',
      'BatchMode=yes',
      'PreferredAuthentications=publickey',
    ],
    ...[
      `StrictHostKeyChecking=${known.length > 0 ? 'yes' : 'accept-new'}`,
      `UserKnownHostsFile="${knownFile}"`,
      'GlobalKnownHostsFile=/dev/null',
    ],
    ...[
      'HashKnownHosts=no',
      'UpdateHostKeys=no',
      'CheckHostIP=no',
      'VerifyHostKeyDNS=no',
      `HostKeyAlias=${label}`,
      `HostName=${ip}`,
    ],
    ...[
      'CanonicalizeHostname=no',
      'ConnectTimeout=15',
      'ServerAliveInterval=15',
      'ServerAliveCountMax=3',
    ],
    ...[
      'ForwardAgent=no',
      'ForwardX11=no',
      'ClearAllForwardings=yes',
      'PermitLocalCommand=no',
      'ProxyCommand=none',
      'ControlMaster=no',
      'ControlPath=none',
    ],
  ];
  return [program, '-F', 'none', '-i', keyFile, ...options.flatMap((option) => ['-o', option])]
    .map((part) => `'${part.replaceAll("'", "'\\''")}'`)
    .join(' ');
}

const hostKeysIn = (text: string): { readonly algorithm: string; readonly key: string }[] =>
  text.split('\n').flatMap((line) => {
    const [, algorithm, key] = /^\S+ (\S+) ([A-Za-z0-9+/=]+)/.exec(line) ?? [];
    return algorithm === undefined || key === undefined ? [] : [{ algorithm, key }];
  });
