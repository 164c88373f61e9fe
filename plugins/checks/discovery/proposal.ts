import { createHash } from 'node:crypto';

import { kindOf } from 'svc/check';

import type { CheckDraft } from '../check/check-schema.ts';
import type { Finding } from './finding.ts';
import { labelDrafts } from './label-drafts.ts';

export type Source = 'nginx' | 'caddy' | 'certificate' | 'listener' | 'container';

/** A check that nobody has asked for yet. */
export interface Proposal {
  /** The same for the same address from the same place, so that a dismissal lasts. */
  readonly id: string;
  readonly draft: CheckDraft;
  readonly source: Source;
  readonly agent: string;
}

/** Conversations that svc can hold with what usually listens there. */
const schemes: Readonly<Record<number, string>> = {
  25: 'smtp',
  80: 'http',
  1883: 'mqtt',
  3306: 'mysql',
  5432: 'postgres',
  6379: 'redis',
  8080: 'http',
};
/** First of the ports that belong to connections and to programs that chose none. */
const firstPassingPort = 32_768;

/** Returns what could be checked of a machine, the most telling first. */
export function proposalsOf(agent: string, finding: Finding): readonly Proposal[] {
  const { listeners, sites, certificates, containers } = finding;
  const here = [`agent:${agent}`];
  const served = new Set(sites.map(({ url }) => new URL(url).hostname));
  const webPorts = new Set(sites.map(({ url }) => portOf(new URL(url))));
  const proposals = [
    ...sites.map(({ server, url }) => ({
      source: server as Source,
      draft: { name: new URL(url).hostname, target: url },
    })),
    ...certificates
      .flatMap(({ names }) => names)
      .filter((name) => !served.has(name))
      .map((name) => ({
        source: 'certificate' as const,
        draft: { name, kind: 'tls' as const, target: `${name}:443` },
      })),
    ...containers.flatMap(({ name, labels }) =>
      labelDrafts(name, labels).map((draft) => ({
        source: 'container' as const,
        draft: { ...draft, places: here },
      })),
    ),
    ...listeners
      .filter(({ port }) => port < firstPassingPort && !webPorts.has(port))
      .map(({ address, port }) => ({
        source: 'listener' as const,
        draft: { name: `${agent} ${port}`, target: listenerTarget(address, port), places: here },
      })),
  ].map(({ source, draft }): Proposal => ({ id: idOf(draft), draft, source, agent }));
  return [...new Map(proposals.toReversed().map((one) => [one.id, one])).values()].toReversed();
}

/** Returns an address for a listener: what listens everywhere listens on the loopback as well, which its own agent reaches without a network. */
function listenerTarget(address: string, port: number): string {
  const host = /^(?:0\.0\.0\.0|::|::1|127\..*)$/.test(address)
    ? address === '::1'
      ? '[::1]'
      : '127.0.0.1'
    : address.includes(':')
      ? `[${address}]`
      : address;
  const scheme = schemes[port];
  return scheme === undefined
    ? `${host}:${port}`
    : `${scheme}://${host}:${port}${scheme === 'postgres' ? '/postgres' : ''}`;
}

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

const idOf = ({ kind, target, places = ['svc'] }: CheckDraft): string =>
  createHash('sha256')
    .update(JSON.stringify([kind ?? kindOf(target), target, places]))
    .digest('hex')
    .slice(0, 16);
