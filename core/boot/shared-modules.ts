import { lentLater, type lentNames, type SharedModules } from '../host/index.ts';
import { threadSide } from '../isolate/index.ts';
import * as sdk from '../sdk/index.ts';
import * as ssh from './ssh.ts';

/**
 * Modules that a manager shares with plugins: one instance for all, and all that a plugin of the
 * single binary can import besides Node's own modules. All except the contract are loaded when the
 * first plugin imports them.
 */
const modules: Readonly<Record<(typeof lentNames)[number], object>> = {
  'svc/sdk': sdk,
  'svc/ssh': ssh,
  'svc/thread': threadSide,
  ajv: lentLater(async () => (await import('ajv')).default),
  jsonwebtoken: lentLater(async () => (await import('jsonwebtoken')).default),
  kysely: lentLater(() => import('kysely')),
  re2js: lentLater(() => import('re2js')),
  semver: lentLater(async () => (await import('semver')).default),
  typebox: lentLater(() => import('typebox')),
  // For the tunnel library: the same copy as that of the host.
  ws: lentLater(() => import('ws')),
  yaml: lentLater(async () => (await import('yaml')).default),
};

export const sharedModules: SharedModules = new Map(Object.entries(modules));
