import * as kysely from 'kysely';
import * as re2js from 're2js';
import * as typebox from 'typebox';
import * as yaml from 'yaml';
import ajv from 'ajv';
import jsonwebtoken from 'jsonwebtoken';
import semver from 'semver';

import { lentLater, type SharedModules } from '../host/index.ts';
import { threadSide } from '../isolate/index.ts';
import * as sdk from '../sdk/index.ts';

/**
 * What the host lends to plugins: one instance for all, and all that a plugin of the single binary can import
 * besides Node's own modules. Everything else a plugin uses is bundled into it.
 */
export const sharedModules: SharedModules = new Map<string, object>([
  ['svc/sdk', sdk],
  // Large, and mostly used in threads, which have their own: loaded when the first plugin asks for them.
  ['svc/telemetry', lentLater(() => import('../telemetry/index.ts'))],
  ['svc/template', lentLater(() => import('../template/index.ts'))],
  ['svc/thread', threadSide],
  ['typebox', typebox],
  ['kysely', kysely],
  ['re2js', re2js],
  ['yaml', yaml],
  ['ajv', ajv],
  ['semver', semver],
  ['jsonwebtoken', jsonwebtoken],
]);
