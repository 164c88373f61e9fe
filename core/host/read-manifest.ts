import semver from 'semver';

import pluginSchema from '../../config/plugin.schema.json' with { type: 'json' };
import {
  type PluginManifest,
  PackLoader,
  messageOf,
  nearest,
  sdkVersion,
  SvcError,
} from '../sdk/index.ts';
import type { PluginFolder } from './folder.ts';
import type { Misfit, Schemas } from './schemas.ts';

const maxManifestBytes = 256 * 1024;

/** `plugin.json` of a folder, validated and with its defaults; every refusal names file, field and fix. */
export type ReadManifest = (folder: PluginFolder) => PluginManifest;

const packLoaderNeed = { service: PackLoader.id, range: '^1.0.0' };

/** Such code runs where the plugin that loads packs lets it. */
const hasPackCode = ({ kind, entry }: PluginManifest): boolean =>
  kind === 'pack' && entry !== undefined;

/** Of a pack from the data folder; personas, skills and dashboards are data, which their readers check. */
const asksForRights = (
  { kind, contributes, settings, actions, mounts }: PluginManifest,
  { origin }: PluginFolder,
): boolean =>
  kind === 'pack' &&
  origin === 'data' &&
  [contributes, settings, actions, mounts].some((asked) => Object.keys(asked).length > 0);

export function manifestReader(schemas: Schemas): ReadManifest {
  const misfits = schemas.compile(pluginSchema, { defaults: true });
  return (folder) => {
    const where = `${folder.path}/plugin.json`;
    const parsed = parse(folder, where);
    const problems = misfits(parsed);
    if (problems.length > 0) {
      throw new SvcError(
        'invalid_argument',
        `${where}: ${problems.slice(0, 3).map(sentence).join('; ')}`,
      );
    }
    const manifest = parsed as PluginManifest;
    checkIdentity(manifest, folder, where);
    checkEngine(manifest, where);
    checkKind(manifest, folder, where);
    return deepFreeze(
      hasPackCode(manifest) || asksForRights(manifest, folder)
        ? { ...manifest, requires: [packLoaderNeed] }
        : manifest,
    );
  };
}

function checkIdentity(manifest: PluginManifest, folder: PluginFolder, where: string): void {
  if (manifest.id !== folder.id || manifest.id === 'core') {
    throw new SvcError(
      'invalid_argument',
      `${where}: id is "${manifest.id}" but the folder is "${folder.id}"; they must be the same, and not "core"`,
    );
  }
  for (const need of [...manifest.requires, ...manifest.optional]) {
    if (semver.validRange(need.range) === null) {
      throw new SvcError(
        'invalid_argument',
        `${where}: range "${need.range}" of ${need.service} is not a semver range such as "^1.0.0"`,
      );
    }
  }
}

function parse(folder: PluginFolder, where: string): unknown {
  const bytes = folder.read('plugin.json');
  if (!bytes) {
    throw new SvcError('not_found', `${where} is missing`);
  }
  if (bytes.length > maxManifestBytes) {
    throw new SvcError(
      'invalid_argument',
      `${where} is larger than ${maxManifestBytes / 1024} KiB`,
    );
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw new SvcError('invalid_argument', `${where} is not JSON: ${messageOf(error)}`);
  }
}

function checkEngine(manifest: PluginManifest, where: string): void {
  if (semver.validRange(manifest.engines.host) === null) {
    throw new SvcError(
      'invalid_argument',
      `${where}: engines.host "${manifest.engines.host}" is not a semver range such as "^1.0.0"`,
    );
  }
  if (!semver.satisfies(sdkVersion, manifest.engines.host, { includePrerelease: true })) {
    throw new SvcError(
      'invalid_argument',
      `${where}: engines.host asks for ${manifest.engines.host} but this host offers ${sdkVersion}; install a version of "${manifest.id}" made for it`,
    );
  }
}

function checkKind(manifest: PluginManifest, { origin }: PluginFolder, where: string): void {
  if (origin === 'data' && manifest.kind === 'area' && manifest.entry !== undefined) {
    throw new SvcError(
      'invalid_argument',
      `${where}: code in the data folder runs in a process of its own; set "kind" to "pack"`,
    );
  }
  if (manifest.trusted.length > 0 && (origin === 'data' || manifest.kind === 'pack')) {
    throw new SvcError(
      'invalid_argument',
      `${where}: only areas that ship with svc are lent closed modules; remove "trusted"`,
    );
  }
  if (origin === 'data' && (manifest.critical || manifest.early || manifest.sealed.length > 0)) {
    throw new SvcError(
      'invalid_argument',
      `${where}: only plugins that ship with svc are critical, early or sealed; remove "critical", "early" and "sealed"`,
    );
  }
  if (
    manifest.routes.length + manifest.events.length + manifest.skills.length > 0 &&
    !hasPackCode(manifest)
  ) {
    throw new SvcError(
      'invalid_argument',
      `${where}: routes, events and skills are for packs with code; an area declares them in activate()`,
    );
  }
  if (manifest.kind === 'pack' && (manifest.provides.length > 0 || manifest.requires.length > 0)) {
    throw new SvcError(
      'invalid_argument',
      `${where}: a pack runs apart from the services; remove requires and provides`,
    );
  }
}

/** A misfit by its field and what to do about it. */
export function sentence(error: Misfit): string {
  const field =
    error.instancePath === '' ? 'the manifest' : error.instancePath.slice(1).replaceAll('/', '.');
  const parameters = error.params;
  switch (error.keyword) {
    case 'additionalProperties':
      return `${field} has an unknown field "${String(parameters['additionalProperty'])}"; ${meant(error)}`;
    case 'required':
      return `${field} lacks "${String(parameters['missingProperty'])}"`;
    case 'enum':
      return `${field} must be one of ${(parameters['allowedValues'] as unknown[]).join(', ')}`;
    default:
      return `${field} ${error.message ?? 'is not valid'}`;
  }
}

/** What to do about a field that is not known: at the top, the known one that was most likely meant. */
function meant({ instancePath, params }: Misfit): string {
  const guess =
    instancePath === ''
      ? nearest(String(params['additionalProperty']), Object.keys(pluginSchema.properties))
      : undefined;
  return guess === undefined ? 'remove it' : `did you mean "${guess}"?`;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) {
      deepFreeze(inner);
    }
  }
  return value;
}
