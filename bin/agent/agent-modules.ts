import { lentLater, type SharedModules } from '../../core/host/index.ts';
import { threadSide } from '../../core/isolate/index.ts';
import * as sdk from '../../core/sdk/index.ts';
import { Ajv } from './small-ajv.ts';

/**
 * Modules shared with the plugins of an agent: few, because they would stay in the memory of every
 * host of a fleet.
 */
export const agentModules: SharedModules = new Map<string, object>([
  ['svc/sdk', sdk],
  ['svc/thread', threadSide],
  ['ajv', { Ajv, default: Ajv }],
  ['re2js', lentLater(() => import('re2js'))],
  ['semver', lentLater(async () => (await import('semver')).default)],
  ['ws', lentLater(() => import('ws'))],
  ['yaml', lentLater(async () => (await import('yaml')).default)],
]);
