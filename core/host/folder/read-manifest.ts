import semver from 'semver';

import pluginSchema from '../../../config/plugin.schema.json' with { type: 'json' };
import {
  type PluginManifest,
  PackLoader,
  messageOf,
  nearest,
  sdkVersion,
} from '../../sdk/index.ts';
import { errors } from './errors.ts';
import type { PluginFolder } from './folder.ts';
import type { Misfit, Schemas } from './schemas.ts';

const maxManifestBytes = 256 * 1024;

/** `plugin.json` of a folder, validated and with its defaults; every refusal names file, field and fix. */
export type ReadManifest = (folder: PluginFolder) => PluginManifest;

const packLoaderNeed = { service: PackLoader.id, range: '^1.0.0' };

/**
 * Returns whether a manifest has pack code, which runs where the plugin that loads packs lets it.
 */
const hasPackCode = ({ kind, entry }: PluginManifest): boolean =>
  kind === 'pack' && entry !== undefined;

/**
 * Returns whether a pack from the data folder requests permissions; personas, skills and dashboards
 * are data, which their readers check.
 */
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
      throw errors.manifest_shape({
        where,
        problems: problems.slice(0, 3).map(sentence).join('; '),
      });
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
    throw errors.manifest_id({ where, id: manifest.id, folder: folder.id });
  }
  for (const need of [...manifest.requires, ...manifest.optional]) {
    if (semver.validRange(need.range) === null) {
      throw errors.manifest_range({ where, range: need.range, service: need.service });
    }
  }
}

function parse(folder: PluginFolder, where: string): unknown {
  const bytes = folder.read('plugin.json');
  if (!bytes) {
    throw errors.no_manifest({ where });
  }
  if (bytes.length > maxManifestBytes) {
    throw errors.manifest_too_large({ where, kib: maxManifestBytes / 1024 });
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw errors.manifest_no_json({ where, cause: messageOf(error) });
  }
}

function checkEngine(manifest: PluginManifest, where: string): void {
  if (semver.validRange(manifest.engines.host) === null) {
    throw errors.manifest_engine({ where, range: manifest.engines.host });
  }
  if (!semver.satisfies(sdkVersion, manifest.engines.host, { includePrerelease: true })) {
    throw errors.host_unfit({
      where,
      range: manifest.engines.host,
      version: sdkVersion,
      plugin: manifest.id,
    });
  }
}

function checkKind(manifest: PluginManifest, { origin }: PluginFolder, where: string): void {
  if (origin === 'data' && manifest.kind === 'area' && manifest.entry !== undefined) {
    throw errors.pack_kind({ where });
  }
  if (manifest.trusted.length > 0 && (origin === 'data' || manifest.kind === 'pack')) {
    throw errors.pack_trusted({ where });
  }
  if (origin === 'data' && (manifest.critical || manifest.early || manifest.sealed.length > 0)) {
    throw errors.pack_critical({ where });
  }
  if (
    manifest.routes.length + manifest.events.length + manifest.skills.length > 0 &&
    !hasPackCode(manifest)
  ) {
    throw errors.area_routes({ where });
  }
  if (manifest.kind === 'pack' && (manifest.provides.length > 0 || manifest.requires.length > 0)) {
    throw errors.pack_services({ where });
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

/**
 * Returns the remedy for an unknown field: at the top level, the known one that was most likely
 * meant.
 */
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
