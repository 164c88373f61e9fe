import type { RunResult } from 'svc/contracts/programs';
import { isSvcError, messageOf } from 'svc/sdk';

/** Reasons why a sync has failed, as shown to people and programs. */
export const troubles = {
  interrupted: 'svc was stopped during the sync; the next sync resumes it',
  timeout: 'the server took too long; it is tried again',
  too_large: 'the repository is larger than svc allows; use another branch or a smaller repository',
  too_many_files:
    'the branch has more documents than svc allows; limit it to a folder with path_prefix',
  address_refused: 'the address is not allowed',
  unreachable:
    'the server cannot be reached; check its address, and whether this machine may connect to it',
  server_failed:
    'the server answers with an error of its own; svc tries again, and the log of that server says why',
  tls: 'the certificate of the server is not trusted; put the PEM of its authority into the setting knowledge.git_authorities',
  redirected: 'the server sends git to another address; enter that one',
  access_refused: 'the server wants other credentials; check user name and password',
  key_refused: 'the server does not accept the SSH key; add the public key of the identity there',
  host_key_changed:
    'the host key of the SSH server does not match the pinned one: it was reinstalled, or the connection is intercepted. Compare its key (ssh-keyscan HOST | ssh-keygen -lf -) with the fingerprint at the SSH identity; if it is right, unpin the host (PATCH /api/v1/knowledge/ssh-identities/ID, forget_hosts) and sync again',
  repository_gone:
    'there is no repository at this address, or these credentials do not give access to it',
  branch_gone:
    'the server has no such branch; create it there, or set another branch for this repository',
  folder_gone:
    'the branch has no such folder; create it there, or set another path_prefix for this repository',
  no_pages: 'the site lists no page that svc may read; check its sitemap.xml and its robots.txt',
  damaged: 'the data of the server is damaged or not allowed, and nothing was imported',
  not_possible: 'this machine lacks a program that a sync needs',
  not_kept: "failed to write to svc's database",
  git_failed: 'git failed',
} as const;

export type TroubleCode = keyof typeof troubles;

/** Error that ends a sync; the previous state stays. */
export class SyncTrouble extends Error {
  readonly code: TroubleCode;

  constructor(code: TroubleCode, detail = '', options?: ErrorOptions) {
    super(detail === '' ? troubles[code] : `${troubles[code]} (${detail})`, options);
    this.code = code;
  }
}

/** Patterns in the output of git and ssh with LC_ALL=C; the first match counts. */
const words: readonly (readonly [RegExp, TroubleCode])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed|host key .* has changed/i,
    'host_key_changed',
  ],
  [/couldn't find remote ref/, 'branch_gone'],
  [
    /Permission denied \(|Too many authentication failures|Load key|no mutual signature/,
    'key_refused',
  ],
  [
    /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|requested URL returned error: 40[13]|Authentication is required/i,
    'access_refused',
  ],
  [/redirect|returned error: 30\d/i, 'redirected'],
  [
    /repository .* not found|does not appear to be a git repository|not a git repository|requested URL returned error: (?:404|410)|not valid: is this a git repository|No such file or directory/i,
    'repository_gone',
  ],
  [/requested URL returned error: 5\d\d/, 'server_failed'],
  [/SSL|certificate|gnutls/i, 'tls'],
  [/timed out|Timeout|Operation too slow/i, 'timeout'],
  [
    /Could not resolve|Connection (?:refused|reset|closed)|Failed to connect|Couldn't connect|No route to host|Network is unreachable|early EOF|hung up|Empty reply|kex_exchange/i,
    'unreachable',
  ],
  [
    /not our ref|fsck|index-pack failed|bad object|corrupt|unpack|invalid|missing|inflate|protocol error|bad pack|did not send all/i,
    'damaged',
  ],
];

/** Passwords are in no message: they are given to git apart from the address. */
export function troubleOf({ code, cut, errors }: RunResult, timeoutMs?: number): SyncTrouble {
  if (cut === 'time') {
    return new SyncTrouble('timeout', timeoutMs === undefined ? '' : `after ${timeoutMs / 1000} s`);
  }
  if (cut === 'size') {
    return new SyncTrouble('too_large');
  }
  const kind = words.find(([pattern]) => pattern.test(errors))?.[1] ?? 'git_failed';
  return new SyncTrouble(kind, detailOf(errors) || `it ended with ${code ?? 'a signal'}`);
}

/** Converts any error that ended a sync, for storage. */
export function toTrouble(error: unknown): SyncTrouble {
  if (error instanceof SyncTrouble) {
    return error;
  }
  const kind = !isSvcError(error)
    ? 'git_failed'
    : error.reason?.startsWith('storage.')
      ? 'not_kept'
      : 'not_possible';
  return new SyncTrouble(kind, messageOf(error), { cause: error });
}

/** Returns the most informative line, without control characters. */
function detailOf(errors: string): string {
  const lines = errors
    // oxlint-disable-next-line no-control-regex -- these are what is taken out
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(
      (line) =>
        line !== '' &&
        !/^(?:@+|hint:|warning: Permanently|ssh-keygen -f|Host key verification|remove with:|Please make sure|and the repository exists)/i.test(
          line,
        ),
    );
  return (
    lines.find((line) =>
      /^(?:fatal|error|remote|ssh|kex_exchange|Permission denied|.*: Permission denied)/i.test(
        line,
      ),
    ) ??
    lines[0] ??
    ''
  ).slice(0, 300);
}
