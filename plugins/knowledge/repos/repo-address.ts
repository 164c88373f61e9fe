import { isIP } from 'node:net';

import { errors } from './errors.ts';

/** Address of a repository, as typed and as checked. */
export interface RepoAddress {
  readonly kind: 'https' | 'ssh';
  /** Argument for git, after `--`. */
  readonly url: string;
  /** Host without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Names a server as host keys are kept under it. */
export const hostLabel = ({ host, port }: Pick<RepoAddress, 'host' | 'port'>): string =>
  port === 22 ? host : `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

const user = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const hostName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;
/**
 * Matches safe paths: without what no repository needs, such as spaces, quotes, and anything a
 * shell could interpret.
 */
const path = /^[A-Za-z0-9_.~/@%+,=:-]{1,1000}$/;

/**
 * Parses the address of one repository on one server, over HTTPS or SSH; throws with what is wrong.
 */
export function parseRepoUrl(text: string): RepoAddress {
  // `name::address` would be a program of git that speaks for the address.
  const short = text.includes('::') ? null : /^(?:([^@/:]+)@)?([^@/:]+):(?!\/)(.+)$/.exec(text);
  const address = short ? shortForm(text, short) : longForm(text);
  if (typeof address === 'string') {
    throw errors.repo_address({ address }, { details: [{ path: '/url', message: address }] });
  }
  return address;
}

/** `git@host:team/repo.git` */
function shortForm(url: string, [, login, host, where]: RegExpExecArray): RepoAddress | string {
  return (
    problemOf({ login, host: host!, path: where! }) ?? { kind: 'ssh', url, host: host!, port: 22 }
  );
}

function longForm(text: string): RepoAddress | string {
  const kind = /^(https|ssh):\/\//.exec(text)?.[1] as RepoAddress['kind'] | undefined;
  // An address that a parser would silently correct is not one that was meant.
  if (kind === undefined || !/^[!#-;=?-[\]_a-z~]+$/.test(text) || !URL.canParse(text)) {
    return 'must begin with https:// or ssh://, or be written as git@host:path; other ways to a repository are not supported';
  }
  const { username, password, hostname, port, pathname, search, hash } = new URL(text);
  if (kind === 'https' && (username !== '' || password !== '')) {
    return 'contains a user name or a password; use their own fields';
  }
  if (password !== '' || search !== '' || hash !== '') {
    return 'has a password, a question mark or a # in it; leave them out';
  }
  const host = hostname.replace(/^\[|\]$/g, '');
  const problem = problemOf({
    login: username === '' ? undefined : username,
    host,
    path: pathname,
  });
  return (
    problem ?? {
      kind,
      url: `${kind}://${username === '' ? '' : `${username}@`}${hostname}${port === '' ? '' : `:${port}`}${pathname}`,
      host,
      port: portOf(kind, port),
    }
  );
}

const portOf = (kind: RepoAddress['kind'], port: string): number =>
  port === '' ? { https: 443, ssh: 22 }[kind] : Number(port);

/** A dash at the beginning of any part would be an option of a program. */
function problemOf({
  login,
  host,
  path: where,
}: {
  readonly login: string | undefined;
  readonly host: string;
  readonly path: string;
}): string | undefined {
  if (login !== undefined && !user.test(login)) {
    return 'has a user name with other characters than letters, digits, dots and dashes';
  }
  if (isIP(host) === 0 && !hostName.test(host)) {
    return 'names no host';
  }
  return path.test(where) && !where.startsWith('-') && where !== '/'
    ? undefined
    : 'has no path of a repository, or one with characters that no repository needs';
}
