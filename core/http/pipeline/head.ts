import type { SvcError } from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { errors } from './errors.ts';

/** Limit of Apache and HAProxy, which may stand in front; name and value. */
const maxHeaders = 2 * 100;
/** Limit of nginx; an address may be longer, since it may hold a query. */
const maxBytes = 32 * 1024;
/** Longest path; an address may be longer, since it may hold a query. */
const maxPath = 8 * 1024;
/** A character of neither a name nor an address, or two ports. */
const notInHost = /[^\w.~%:[\]-]|:\d*:\d*$/;

/**
 * Refuses a head that two servers on one connection could read differently, or that a proxy in front would not have let
 * through: where they disagree about whom a request is for, one of them can be made to answer for the other. Nothing more
 * is read from such a connection.
 */
export function requireHead({ req, res }: Exchange): void {
  const { rawHeaders: raw, httpVersion: version, headers } = req;
  // Node keeps the first of several hosts, so they are counted where all that was sent is kept, each name before its value.
  const hosts = raw.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
  const isHost = hosts === 1 ? !notInHost.test(headers.host!) : hosts === 0 && version === '1.0';
  const coding = headers['transfer-encoding'];
  const refusal =
    version < '1.0' || version > '1.1'
      ? errors.no_version()
      : areTooMany(raw)
        ? errors.headers_large()
        : isPathLong(req.url!)
          ? errors.path_long()
          : coding !== undefined && version === '1.0'
            ? errors.coding_of_old()
            : coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
              ? errors.coding_unknown()
              : !isHost && errors.no_host();
  if (refusal) {
    res.shouldKeepAlive = false;
    throw refusal;
  }
}

/** Returns the refusal of what was sent after the body, if it is larger than headers may be; nobody reads it. */
export function trailersRefusal({ req, res }: Exchange): SvcError | undefined {
  if (!areTooMany(req.rawTrailers)) {
    return undefined;
  }
  res.shouldKeepAlive = false;
  return errors.headers_large();
}

const areTooMany = (raw: readonly string[]): boolean =>
  raw.length > maxHeaders || raw.join('  ').length > maxBytes;

const isPathLong = (url: string): boolean => {
  const query = url.indexOf('?');
  return (query === -1 ? url.length : query) > maxPath;
};
