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
        `${cert} holds no certificate in PEM`,
        'name the file with the certificate and its chain in http.tls_cert',
      );
    }
    if (!leaf.checkPrivateKey(createPrivateKey(readFileSync(key)))) {
      return fail(
        subject,
        `the key in ${key} is not that of the certificate in ${cert}`,
        'put the key that the certificate was made for in its place; svc takes both up within a minute',
      );
    }
    const [from, until] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    const now = Date.now();
    if (now < from || now > until) {
      const when =
        now < from
          ? `is not valid before ${timestamp(from)}`
          : `has expired on ${timestamp(until)}`;
      return fail(
        subject,
        `${cert} ${when}: browsers and agents refuse it`,
        'put a new one in its place; svc takes it up within a minute without a restart',
      );
    }
    if (
      host !== undefined &&
      (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) === undefined
    ) {
      return fail(
        subject,
        `${cert} is for ${leaf.subjectAltName ?? leaf.subject}, and not for ${host}`,
        `have one made for ${host}, or correct http.public_url`,
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
        'renew it; svc takes a new one up within a minute without a restart',
      )
    : ok(subject, `${cert} holds for ${days} days, and leads to an authority`);
}

const broken = (subject: string, cert: string, { of, by }: Gap) =>
  of === by
    ? warn(
        subject,
        `${cert} is signed by itself: only those who were given it believe it`,
        'give it to agents (svc edge install --ca) and browsers, or have one made by an authority',
      )
    : warn(
        subject,
        `the chain in ${cert} ends with ${of}, which ${by} has signed: clients that do not know that one refuse it`,
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
