import type { Exchange } from '../exchange/exchange.ts';
import { errors } from './errors.ts';

/** As many as Apache and HAProxy take in front of us, name and value. */
const maxHeaders = 2 * 100;
/** As much as nginx takes in front of us; an address may be longer than that, since it may hold a query. */
const maxBytes = 32 * 1024;
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
  const refusal =
    version < '1.0' || version > '1.1'
      ? errors.no_version()
      : raw.length > maxHeaders || raw.join('  ').length > maxBytes
        ? errors.headers_large()
        : !isHost && errors.no_host();
  if (refusal) {
    res.shouldKeepAlive = false;
    throw refusal;
  }
}
