import { X509Certificate } from 'node:crypto';

import type { EdgeMethod } from 'svc/contracts/edge-uplink';
import { isSecretName, type MachineFiles } from 'svc/probe';
import { isSvcError, messageOf } from 'svc/sdk';

import { AllowedPaths, type AllowedPathsParts } from '../reach/allowed-paths.ts';
import type { AllowedViews } from '../reach/allowed-views.ts';
import { errors } from '../skills/errors.ts';
import { ContainerEngine } from '../skills/containers/container-engine.ts';
import { fieldsOf, listOf, textOf } from '../skills/containers/engine-answers.ts';
import { readSockets } from '../skills/network/socket-table.ts';
import { caddySites } from './caddy-sites.ts';
import { nginxSites } from './nginx-sites.ts';
import { hostNames } from './site.ts';
import { SiteFiles } from './site-files.ts';

export interface DiscoverParts extends Omit<AllowedPathsParts, 'list'> {
  readonly views: AllowedViews;
  /** Configuration of nginx, and that of Caddy; default: where Debian has them. */
  readonly nginx?: string;
  readonly caddy?: string;
  /** Globs of the files that the view of sites includes. */
  readonly include?: readonly string[];
}

interface Certificate {
  readonly names: readonly string[];
  readonly expires_at: string;
}

const usualFiles = [
  // Debian links modules of nginx there.
  '/usr/share/nginx/modules-available/**',
  ...['/etc/nginx/**', '/etc/caddy/**', '/etc/letsencrypt/**', '/etc/ssl/**', '/etc/pki/**'],
];

const most = {
  listeners: 300,
  sites: 500,
  certificates: 200,
  names: 50,
  containers: 100,
  labels: 40,
  notes: 50,
} as const;
const longestValue = 500;

/**
 * Method by which the manager learns what this machine serves that a check could watch. What the
 * owner does not allow is left out and noted.
 */
export const checkDiscover = (parts: DiscoverParts): EdgeMethod => ({
  name: 'check_discover',
  mutating: false,
  async run(_: unknown, { signal }) {
    if (!parts.policy.current().skills.enabled) {
      throw errors.checks_not_allowed();
    }
    const notes: string[] = [];
    const looked = async <T>(look: () => Promise<readonly T[]>): Promise<readonly T[]> => {
      try {
        return await look();
      } catch (error) {
        signal.throwIfAborted();
        // A machine without containers has nothing that could be left out.
        if (!isSvcError(error) || error.reason !== 'edge-skills.no_engine') {
          notes.push(messageOf(error));
        }
        return [];
      }
    };
    const files = new SiteFiles({ files: parts.files, paths: reachOf(parts) });
    const served = await looked(async () => {
      parts.views.requireView('sites');
      return [
        await nginxSites(parts.nginx ?? '/etc/nginx/nginx.conf', files.read),
        await caddySites(parts.caddy ?? '/etc/caddy/Caddyfile', files.read),
      ];
    });
    const certificates: Certificate[] = [];
    for (const file of new Set(served.flatMap((one) => one.certificates))) {
      if (certificates.length < most.certificates) {
        certificates.push(
          ...(await looked(async () => (await files.read(file)).flatMap(certificateIn))),
        );
      }
    }
    return {
      listeners: listenersOf(parts.files),
      sites: served.flatMap(({ sites }) => sites).slice(0, most.sites),
      certificates,
      containers: await looked(async () => await labelsOf(parts, signal)),
      notes: [...notes, ...files.notes]
        .slice(0, most.notes)
        .map((note) => note.slice(0, longestValue)),
    };
  },
});

/** Returns the reach of the view of sites: other files, under the same policy. */
const reachOf = ({ policy, slow, files, closed, include = usualFiles }: DiscoverParts) =>
  new AllowedPaths({
    slow,
    files,
    closed,
    list: 'paths',
    policy: {
      current() {
        const { skills, ...rest } = policy.current();
        return { ...rest, skills: { ...skills, paths: include } };
      },
    },
  });

const listenersOf = (files: MachineFiles) =>
  (['tcp', 'tcp6'] as const)
    .flatMap((protocol) => readSockets(files, protocol).rows)
    .filter(({ state }) => state === 'listen')
    .map(({ local_address: address, local_port: port }) => ({ address, port }))
    .slice(0, most.listeners);

/** Names and end of a certificate; neither the certificate nor anything else of its file leaves the machine. */
function certificateIn(text: string): readonly Certificate[] {
  const pem = /-----BEGIN CERTIFICATE-----[\w\s+/=]+-----END CERTIFICATE-----/.exec(text)?.[0];
  if (pem === undefined) {
    return [];
  }
  const { subjectAltName = '', validTo } = new X509Certificate(pem);
  const names = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name!);
  return [
    {
      names: hostNames(names).slice(0, most.names),
      expires_at: new Date(validTo).toISOString(),
    },
  ];
}

/** Labels of running containers that are about checks. */
async function labelsOf({ views, policy }: DiscoverParts, signal: AbortSignal) {
  views.requireView('containers');
  return listOf(await new ContainerEngine(policy).json('/containers/json', signal))
    .map(fieldsOf)
    .map((container) => ({
      name: textOf(listOf(container['Names'])[0], 200)?.replace(/^\//, '') ?? 'container',
      labels: Object.fromEntries(
        Object.entries(fieldsOf(container['Labels']))
          .filter(([label]) => /^(?:svc\.check|kuma)\.[\w.-]{1,200}$/.test(label))
          .filter(([label]) => !isSecretName(label))
          .slice(0, most.labels)
          .map(([label, value]) => [label, textOf(value, longestValue) ?? '']),
      ),
    }))
    .filter(({ labels }) => Object.keys(labels).length > 0)
    .slice(0, most.containers);
}
