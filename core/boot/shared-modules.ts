// Whoever type checks a single area compiles this file, and not the folder around it.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./ssh2.d.ts" />
import { lentLater, type SharedModules } from '../host/index.ts';
import { threadSide } from '../isolate/index.ts';
import * as sdk from '../sdk/index.ts';

/**
 * What the host lends to plugins: one instance for all, and all that a plugin of the single binary can import
 * besides Node's own modules. Everything else a plugin uses is bundled into it. All but the contract is loaded when the first
 * plugin asks for it: the process of an edge is small because its plugins ask for little.
 */
export const sharedModules: SharedModules = new Map<string, object>([
  ['svc/sdk', sdk],
  ['svc/thread', threadSide],
  // For shells alone.
  ['ssh2', lentLater(async () => (await import('ssh2')).default)],
  // For the library of tunnels: one copy beside that of the host.
  ['ws', lentLater(() => import('ws'))],
  ['typebox', lentLater(() => import('typebox'))],
  ['kysely', lentLater(() => import('kysely'))],
  ['re2js', lentLater(() => import('re2js'))],
  ['yaml', lentLater(async () => (await import('yaml')).default)],
  ['ajv', lentLater(async () => (await import('ajv')).default)],
  ['semver', lentLater(async () => (await import('semver')).default)],
  ['jsonwebtoken', lentLater(async () => (await import('jsonwebtoken')).default)],
]);
