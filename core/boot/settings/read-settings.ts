import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { parse as parseYaml } from 'yaml';

import {
  discover,
  manifestReader,
  type PluginSources,
  type ReadManifest,
  type Schemas,
} from '../../host/index.ts';
import { isSvcError, type Logger, messageOf, type SettingDeclaration } from '../../sdk/index.ts';
import { coreSettings, otherEnvironment } from './core-settings.ts';
import { defaultsFile, pluginSources, type Product } from './product.ts';
import { errors } from './errors.ts';
import { type Environment, Settings, type SettingsOptions } from './settings.ts';
import { type KnownSettings, namesOf, readKnownSettings } from './known-settings.ts';

interface BootSettings {
  /** Reads the manifests of plugins. */
  readonly readManifest: ReadManifest;
  readonly settings: Settings;
  readonly dataDir: string;
  /** Settings of every plugin that this data folder has met, those of now among them. */
  readonly known: KnownSettings;
  /** Names that are given a value, of plugins that are away. */
  readonly unused: readonly string[];
}

interface BootSettingsOptions {
  readonly schemas: Schemas;
  readonly log?: () => Logger;
  /** Plugins from elsewhere than the product and the data folder. */
  readonly sources?: PluginSources | undefined;
  /** Plugins that run elsewhere bring no settings here. */
  readonly runsOn?: 'manager' | 'edge';
  /** Settings of svc itself; default: the manager's. */
  readonly core?: Readonly<Record<string, SettingDeclaration>>;
}

/** Reads every layer but the database, and stops at the first name or value that is not right. */
export function bootSettings(
  product: Product,
  environment: Environment,
  { schemas, log, sources, runsOn = 'manager', core = coreSettings }: BootSettingsOptions,
): BootSettings {
  const shipped = readSettingsFile(defaultsFile(product));
  const dataDir = dataDirOf(environment, { schemas, shipped }, core);
  const own = `${dataDir}/svc.yaml`;
  const ownValues = readSettingsFile(own);
  const settings = new Settings(environment, ownValues, { schemas, shipped, log });
  settings.declare('core', core, false);
  const readManifest = manifestReader(schemas);
  const { release, names } = declareForPlugins(
    settings,
    sources ?? pluginSources(product, dataDir),
    readManifest,
    runsOn,
  );
  const present = new Set(Object.values(names));
  const known = {
    ...Object.fromEntries(
      Object.entries(readKnownSettings(dataDir)).filter(([, plugin]) => !present.has(plugin)),
    ),
    ...names,
  };
  const unused = settings.assertAllKnown(otherEnvironment, ownValues.keys(), own, known);
  // Each plugin declares its keys itself, with its own life time, when it is brought up.
  release();
  return { settings, dataDir, readManifest, known, unused };
}

/** The data folder holds a settings file itself, so it is the one setting that comes from outside only. */
function dataDirOf(
  environment: Environment,
  options: SettingsOptions,
  core: NonNullable<BootSettingsOptions['core']>,
): string {
  const outside = new Settings(environment, new Map(), options);
  outside.declare('core', { 'data.dir': core['data.dir']! });
  return resolve(outside.get<string>('data.dir'));
}

/** Manifests alone, read before any plugin runs; a broken one is its own plugin's problem, later. */
function declareForPlugins(
  settings: Settings,
  sources: PluginSources,
  readManifest: ReadManifest,
  runsOn: 'manager' | 'edge',
): { release: () => void; names: KnownSettings } {
  const releases: (() => unknown)[] = [];
  let names: KnownSettings = {};
  for (const folder of discover(sources).values()) {
    try {
      const manifest = readManifest(folder);
      if (manifest.runs_on.includes(runsOn)) {
        releases.push(settings.declare(folder.id, manifest.settings, manifest.kind === 'pack'));
        names = { ...names, ...namesOf(manifest) };
      }
    } catch (error) {
      // What a stranger dropped in keeps nothing from starting.
      if (
        folder.origin !== 'data' &&
        (!isSvcError(error) || !error.message.includes(`${folder.path}/plugin.json`))
      ) {
        throw error;
      }
    }
  }
  return { release: () => releases.forEach((release) => release()), names };
}

/** `category: { key: value }` of a YAML file as `category.key` → value; a missing file is empty. */
export function readSettingsFile(file: string): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return values;
    }
    throw errors.config_unreadable({ file, cause: messageOf(error) });
  }
  for (const [category, keys] of Object.entries(parseMapping(text, file))) {
    if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) {
      throw errors.config_category({ file, category });
    }
    for (const [key, value] of Object.entries(keys)) {
      values.set(`${category}.${key}`, value);
    }
  }
  return values;
}

function parseMapping(text: string, file: string): object {
  let parsed: unknown;
  try {
    parsed = parseYaml(text, { maxAliasCount: 0, schema: 'core' });
  } catch (error) {
    throw errors.config_no_yaml({ file, cause: messageOf(error).split('\n', 1).join() });
  }
  if (parsed !== null && (typeof parsed !== 'object' || Array.isArray(parsed))) {
    throw errors.config_no_mapping({ file });
  }
  return parsed ?? {};
}
