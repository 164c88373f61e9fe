import { byteRoute, type RouteDeclaration } from 'svc/sdk';

import { AgentArch } from '../record/schema.ts';
import type { Packages } from '../upgrade/packages.ts';
import type { Enrolments } from './enrolments.ts';
import { assertReachable, installScript } from './install-script.ts';

export interface InstallParts {
  readonly enrolments: Enrolments;
  readonly packages: Packages;
  readonly build: { readonly publicUrl: string; readonly version: string };
  readonly pin: () => string;
}

/** The install script, and the program that it fetches: for hosts without svc. */
export const installRoutes = ({
  enrolments,
  packages,
  build,
  pin,
}: InstallParts): readonly RouteDeclaration[] => [
  byteRoute({
    method: 'GET',
    path: '/install.sh',
    access: 'public',
    summary: 'Get the install script for hosts; run it with --token',
    produces: 'text/x-shellscript',
    errors: ['conflict'],
    async handle({ setHeader }) {
      const { href } = new URL(build.publicUrl);
      const manager = href.replace(/\/+$/, '');
      assertReachable(manager);
      setHeader('cache-control', 'no-store');
      return installScript({
        manager,
        version: build.version,
        pin: pin(),
        packages: await packages.ofVersion(build.version),
      });
    },
  }),
  byteRoute({
    method: 'GET',
    path: '/internal/edge/agents/{arch}',
    access: 'public',
    summary:
      "Download the agent that matches the manager's version; requires an enrolment token in x-enrolment-token",
    params: AgentArch,
    produces: 'application/octet-stream',
    timeoutMs: 600_000,
    errors: ['unauthorized', 'rate_limited', 'not_found', 'conflict'],
    async handle({ params, headers, ip, setHeader }) {
      await enrolments.assertOpen(ip, headers['x-enrolment-token']);
      const { file, sha256 } = await packages.find(build.version, params.arch);
      setHeader('etag', `"${sha256}"`);
      return (await packages.open(file)).read(undefined);
    },
  }),
];
