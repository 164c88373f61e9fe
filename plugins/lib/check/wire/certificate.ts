import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

import type { CertificateFacts } from '../model/check.ts';
import { plain } from '../model/plain-text.ts';

const maxChain = 8;
const longest = 1_000;

/** Reads the chain that a server has presented; undefined if it has presented none. */
export function certificateOf(socket: TLSSocket): CertificateFacts | undefined {
  const leaf = socket.getPeerCertificate(true);
  const chain = chainOf(leaf);
  if (chain.length === 0) {
    return undefined;
  }
  return {
    expires_at: Math.min(...chain.map(({ valid_to: until }) => Date.parse(until))),
    subject: text(leaf.subject?.CN),
    issuer: text(leaf.issuer?.CN) ?? text(leaf.issuer?.O),
    names: text(leaf.subjectaltname),
    serial: text(leaf.serialNumber),
    protocol: socket.getProtocol(),
    problem: socket.authorized ? null : problemOf(socket.authorizationError),
  };
}

/** The chain from the server's own certificate on; a root names itself as its issuer. */
function chainOf(leaf: DetailedPeerCertificate): readonly DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next?.raw !== undefined && chain.length < maxChain && !chain.includes(next)) {
    chain.push(next);
    next = next.issuerCertificate as DetailedPeerCertificate | undefined;
  }
  // The root comes from this machine's own store, and is trusted whatever its dates are.
  return chain.length > 1 && chain.at(-1)!.issuerCertificate === chain.at(-1)
    ? chain.slice(0, -1)
    : chain;
}

const text = (value: unknown): string | null =>
  typeof value === 'string' ? plain(value).slice(0, longest) : null;

const problems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the chain ends in a certification authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send the intermediate certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of the certificate is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  HOSTNAME_MISMATCH: 'the certificate is for another name',
};

function problemOf(reason: unknown): string {
  const code =
    typeof reason === 'object' && reason !== null && 'code' in reason ? reason.code : reason;
  return problems[String(code)] ?? plain(`the certificate is not valid: ${String(code)}`);
}
