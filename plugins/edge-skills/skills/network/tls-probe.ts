import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';

import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { Clock } from 'svc/sdk';

import type { Address, ProbeRules } from '../../reach/probe-rules.ts';
import { plainText } from '../fit-rows.ts';
import { hostSchema, portSchema } from './host-schema.ts';

interface Params {
  readonly host: string;
  readonly port: number;
  readonly server_name?: string;
}

const maxChain = 8;
const dayMs = 86_400_000;

export const tlsProbe = (rules: ProbeRules, clock: Clock): EdgeSkill => ({
  key: 'tls_probe',
  name: 'TLS certificate',
  description:
    'The certificate chain that a host presents: names, issuer, when it expires and in how many days, and whether this machine trusts it. Only a TLS handshake is made, so this machine itself may be probed too.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['host'],
    properties: {
      host: hostSchema,
      port: { ...portSchema, default: 443 },
      server_name: {
        type: 'string',
        pattern: '^[A-Za-z0-9_.-]{1,253}$',
        description: 'Server name to send (SNI); default: the host.',
      },
    },
  },
  async run({ host, port, server_name: given }: Params, call: SkillCall) {
    // Nothing is sent but a greeting, so what listens on this machine is not out of bounds.
    const target = await rules.target(host, port, { near: true });
    const name = given ?? (isIP(host.replaceAll(/^\[|\]$/g, '')) === 0 ? host : undefined);
    return {
      result: {
        host,
        address: target.address,
        port,
        ...(await shake(target, port, name, clock, call)),
      },
    };
  },
});

function shake(
  { address }: Address,
  port: number,
  servername: string | undefined,
  clock: Clock,
  { signal }: SkillCall,
): Promise<object> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: address,
      port,
      // An invalid certificate is a finding, and nothing secret is sent.
      rejectUnauthorized: false,
      ...(servername !== undefined && { servername }),
    });
    const stop = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', stop));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) {
        reject(error);
      } else {
        resolve({ connected: false, error: error.code ?? plainText(error.message).slice(0, 200) });
      }
    });
    socket.once('secureConnect', () => {
      resolve({ connected: true, error: null, ...described(socket, clock.now()) });
      socket.destroy();
    });
    if (signal.aborted) {
      stop();
    }
  });
}

function described(socket: TLSSocket, now: number): object {
  const chain = chainOf(socket.getPeerCertificate(true)).map((certificate) =>
    shownOf(certificate, now),
  );
  const first = chain.reduce<number | undefined>(
    (least, { days_left: days }) => (least === undefined || days < least ? days : least),
    undefined,
  );
  return {
    protocol: socket.getProtocol(),
    cipher: socket.getCipher().name,
    trusted: socket.authorized,
    problem: socket.authorized ? null : plainText(String(socket.authorizationError)).slice(0, 200),
    // Of whichever certificate of the chain expires first.
    days_left: first ?? null,
    chain,
  };
}

/** The chain from the host's own certificate on; a root names itself as its issuer. */
function chainOf(leaf: DetailedPeerCertificate): readonly DetailedPeerCertificate[] {
  const chain: DetailedPeerCertificate[] = [];
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next?.raw !== undefined && chain.length < maxChain && !chain.includes(next)) {
    chain.push(next);
    next = next.issuerCertificate as DetailedPeerCertificate | undefined;
  }
  return chain;
}

function shownOf(certificate: DetailedPeerCertificate, now: number) {
  const text = (value: unknown): string | null =>
    typeof value === 'string' ? plainText(value).slice(0, 1_000) : null;
  const time = (value: string): string => new Date(Date.parse(value)).toISOString();
  return {
    subject: text(certificate.subject?.CN),
    issuer: text(certificate.issuer?.CN) ?? text(certificate.issuer?.O),
    names: text(certificate.subjectaltname),
    valid_from: time(certificate.valid_from),
    valid_to: time(certificate.valid_to),
    days_left: Math.floor((Date.parse(certificate.valid_to) - now) / dayMs),
    serial: text(certificate.serialNumber),
    sha256: text(certificate.fingerprint256),
  };
}
