import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';

import { timestamp } from '../../../core/sdk/index.ts';
import { type Examination, fail, ok, warn } from './finding.ts';

const dayMs = 24 * 60 * 60_000;
const soonDays = 14;
const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The certificate by which svc itself serves: whether it holds, fits its key, names the host, and leads to an authority. */
export const certificate =
  ({
    cert,
    key,
    host,
  }: {
    readonly cert: string;
    readonly key: string;
    readonly host: string | undefined;
  }): Examination =>
  (subject) => {
    const blocks = readFileSync(cert, 'utf8').match(block) ?? [];
    const [leaf, ...others] = blocks.map((text) => new X509Certificate(text));
    if (leaf === undefined) {
      return fail(
        subject,
        `${cert} contains no PEM certificate`,
        'name the file with the certificate and its chain in http.tls_cert',
      );
    }
    if (!leaf.checkPrivateKey(createPrivateKey(readFileSync(key)))) {
      return fail(
        subject,
        `the key in ${key} does not match the certificate in ${cert}`,
        'replace it with the key of the certificate; svc reloads both within a minute',
      );
    }
    const [from, until] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    const now = Date.now();
    if (now < from || now > until) {
      const when =
        now < from ? `is not valid before ${timestamp(from)}` : `expired on ${timestamp(until)}`;
      return fail(
        subject,
        `${cert} ${when}: browsers and agents refuse it`,
        'replace it; svc reloads it within a minute without a restart',
      );
    }
    if (
      host !== undefined &&
      (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) === undefined
    ) {
      return fail(
        subject,
        `${cert} is for ${leaf.subjectAltName ?? leaf.subject}, not for ${host}`,
        `get a certificate for ${host}, or correct http.public_url`,
      );
    }
    return gapIn([leaf, ...others]) === undefined
      ? agreed(subject, cert, until - now)
      : broken(subject, cert, gapIn([leaf, ...others])!);
  };

function agreed(subject: string, cert: string, leftMs: number) {
  const days = Math.floor(leftMs / dayMs);
  return days < soonDays
    ? warn(
        subject,
        `${cert} expires in ${days} days`,
        'renew it; svc reloads it within a minute without a restart',
      )
    : ok(subject, `${cert} is valid for ${days} days, and its chain is complete`);
}

const broken = (subject: string, cert: string, { of, by }: Gap) =>
  of === by
    ? warn(
        subject,
        `${cert} is self-signed: only clients that were given it trust it`,
        'give it to agents (svc edge install --ca) and browsers, or get a certificate from an authority',
      )
    : warn(
        subject,
        `the chain in ${cert} ends with ${of}, which is signed by ${by}: clients that do not know ${by} refuse it`,
        `append the certificate of ${by} to ${cert}, the leaf first`,
      );

interface Gap {
  readonly of: string;
  readonly by: string;
}

/** The first certificate that what follows it does not vouch for. */
function gapIn(chain: readonly X509Certificate[]): Gap | undefined {
  const at = chain.findIndex((certificate, index) => {
    const next = chain[index + 1];
    return next === undefined
      ? !isKnown(certificate)
      : !certificate.checkIssued(next) || !certificate.verify(next.publicKey);
  });
  const found = chain[at];
  return found && { of: nameOf(found.subject), by: nameOf(found.issuer) };
}

const nameOf = (name: string): string => /CN=(.+)/.exec(name)?.[1] ?? name.replaceAll('\n', ', ');

/**
 * Returns whether the authorities that ship with Node, which are those of the web, know it; it may
 * be one itself.
 */
const isKnown = (certificate: X509Certificate): boolean =>
  rootCertificates.some((text) => {
    const root = new X509Certificate(text);
    return (
      root.fingerprint256 === certificate.fingerprint256 ||
      (certificate.checkIssued(root) && certificate.verify(root.publicKey))
    );
  });
