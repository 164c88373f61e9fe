import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';

import { Ajv, type ValidateFunction } from 'ajv';
import { parse as parseYaml } from 'yaml';

import { type Disposer, type Logger, messageOf, type SettingDeclaration, type SettingsBoard, type SettingState, SvcError } from '../sdk/index.ts';
import { nearest } from './nearest.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Declared {
  readonly owner: string;
  readonly declaration: SettingDeclaration;
}

/** Every declared setting and its effective value: environment, then database, then file, then default. */
export class Settings implements SettingsBoard {
  readonly #environment: Environment;
  readonly #file: ReadonlyMap<string, unknown>;
  readonly #database = new Map<string, unknown>();
  readonly #declared = new Map<string, Declared>();
  readonly #watchers = new Set<{ key: string; last: unknown; listener: (value: unknown) => unknown }>();
  readonly #declaring = new Set<() => void>();
  readonly #ajv = new Ajv({ strict: false });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #onWatcherError: (key: string, error: unknown) => void;

  constructor(environment: Environment, file: ReadonlyMap<string, unknown>, log?: () => Logger) {
    this.#environment = environment;
    this.#file = file;
    this.#onWatcherError = (key, error) => log?.().error({ setting: key, error }, `a listener of setting ${key} failed: ${messageOf(error)}`);
  }

  /** Keys and listeners, for the census. */
  get size(): { readonly keys: number; readonly watchers: number } {
    return { keys: this.#declared.size, watchers: this.#watchers.size };
  }

  /** Adds the keys of one owner; a bad value in the environment or file stops here, naming where it stands. */
  declare(owner: string, declarations: Readonly<Record<string, SettingDeclaration>>): Disposer {
    const added = Object.entries(declarations).map(([key, declaration]) => {
      const held = this.#declared.get(key);
      if (held && held.owner !== owner) {
        throw new SvcError('conflict', `setting ${key} is declared by both ${held.owner} and ${owner}`);
      }
      this.#assertLayers(key, declaration);
      return [key, { owner, declaration }] as const;
    });
    added.forEach(([key, declared]) => this.#declared.set(key, declared));
    this.#declaring.forEach((listener) => listener());
    return () => {
      // A newer generation of the same owner may have declared the key again; then it stays.
      added.forEach(([key, declared]) => this.#declared.get(key) === declared && this.#declared.delete(key));
      this.#declaring.forEach((listener) => listener());
    };
  }

  get<T>(key: string): T {
    return this.#require(key).value as T;
  }

  find(key: string): SettingState | undefined {
    const declared = this.#declared.get(key);
    return declared && { key, ...declared, ...this.#effective(key, declared.declaration) };
  }

  list(): readonly SettingState[] {
    return [...this.#declared.keys()].sort().map((key) => this.#require(key));
  }

  override(key: string, value: unknown): void {
    const { declaration } = this.#require(key);
    if (value === undefined) {
      this.#database.delete(key);
    } else {
      this.#assertFits(key, declaration, value, 'the value');
      this.#database.set(key, value);
    }
    this.#notify();
  }

  watch<T>(key: string, listener: (value: T) => unknown): Disposer {
    const watcher = { key, last: this.#require(key).value, listener: listener as (value: unknown) => unknown };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  onDeclared(listener: () => void): () => void {
    this.#declaring.add(listener);
    return () => this.#declaring.delete(listener);
  }

  /** Refuses names and keys nobody declared, so that a typo never passes for a setting. */
  assertAllKnown(alsoEnvironment: ReadonlySet<string>, fileKeys: Iterable<string>, file: string): void {
    const names = new Set(alsoEnvironment);
    for (const { declaration } of this.#declared.values()) {
      if (declaration.env !== undefined) {
        names.add(declaration.env);
        names.add(`${declaration.env}_FILE`);
      }
    }
    for (const name of Object.keys(this.#environment)) {
      if (name.startsWith('SVC_') && !names.has(name)) {
        throw new SvcError('invalid_argument', `environment: ${name} is not a setting of svc${meant(name, names)}`);
      }
    }
    for (const key of fileKeys) {
      if (!this.#declared.has(key)) {
        throw new SvcError('invalid_argument', `${file}: ${key} is not a setting of svc${meant(key, this.#declared.keys())}`);
      }
    }
  }

  #require(key: string): SettingState {
    const found = this.find(key);
    if (!found) {
      throw new SvcError('not_found', `there is no setting "${key}"${meant(key, this.#declared.keys())}`);
    }
    return found;
  }

  #effective(key: string, declaration: SettingDeclaration): { value: unknown; source: SettingState['source'] } {
    const fromEnvironment = this.#fromEnvironment(declaration);
    if (fromEnvironment !== undefined) {
      return { value: fromEnvironment, source: 'env' };
    }
    if (this.#database.has(key)) {
      return { value: this.#database.get(key), source: 'database' };
    }
    if (this.#file.has(key)) {
      return { value: this.#file.get(key), source: 'file' };
    }
    return { value: declaration.default, source: 'default' };
  }

  #fromEnvironment(declaration: SettingDeclaration): unknown {
    const name = declaration.env;
    if (name === undefined) {
      return undefined;
    }
    const text = this.#environment[name] ?? fromFile(this.#environment[`${name}_FILE`], `${name}_FILE`);
    return text === undefined ? undefined : coerce(text, declaration, name);
  }

  #assertLayers(key: string, declaration: SettingDeclaration): void {
    const fromEnvironment = this.#fromEnvironment(declaration);
    if (fromEnvironment !== undefined) {
      this.#assertFits(key, declaration, fromEnvironment, `environment: ${declaration.env}`);
    }
    if (this.#file.has(key)) {
      this.#assertFits(key, declaration, this.#file.get(key), `configuration file: ${key}`);
    }
    if (declaration.default !== undefined) {
      this.#assertFits(key, declaration, declaration.default, `the declared default of ${key}`);
    }
  }

  /** The sentence never repeats the value: it may be a secret. */
  #assertFits(key: string, declaration: SettingDeclaration, value: unknown, where: string): void {
    const check = this.#validator(declaration.schema);
    if (!check(value)) {
      const error = check.errors?.[0];
      const allowed = error?.keyword === 'enum' ? `: ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}` : '';
      throw new SvcError('invalid_argument', `${where} ${error?.message ?? 'does not fit'}${allowed} (${key}: ${declaration.description})`);
    }
  }

  /** By text: Ajv keeps all it ever compiled, and a reloaded plugin brings the same schemas as new objects. */
  #validator(schema: object): ValidateFunction {
    const text = JSON.stringify(schema);
    const known = this.#validators.get(text) ?? this.#ajv.compile(schema);
    this.#validators.set(text, known);
    return known;
  }

  #notify(): void {
    for (const watcher of this.#watchers) {
      const value = this.find(watcher.key)?.value;
      if (JSON.stringify(value) === JSON.stringify(watcher.last)) {
        continue;
      }
      watcher.last = value;
      Promise.resolve()
        .then(() => watcher.listener(value))
        .catch((error: unknown) => this.#onWatcherError(watcher.key, error));
    }
  }
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
    throw new SvcError('invalid_argument', `${file} cannot be read: ${messageOf(error)}`);
  }
  for (const [category, keys] of Object.entries(parseMapping(text, file))) {
    if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) {
      throw new SvcError('invalid_argument', `${file}: "${category}" must be a mapping of keys, such as "${category}:" with indented lines below it`);
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
    throw new SvcError('invalid_argument', `${file} is not valid YAML: ${messageOf(error).split('\n')[0]}`);
  }
  if (parsed !== null && (typeof parsed !== 'object' || Array.isArray(parsed))) {
    throw new SvcError('invalid_argument', `${file} must be a mapping of categories`);
  }
  return parsed ?? {};
}

function coerce(text: string, declaration: SettingDeclaration, name: string): unknown {
  const type = (declaration.schema as { type?: string }).type;
  switch (type) {
    case 'array':
      return text === '' ? [] : text.split(name.endsWith('_DIRS') ? delimiter : ',').map((item) => item.trim());
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    default:
      return text;
  }
}

function fromFile(path: string | undefined, name: string): string | undefined {
  if (path === undefined) {
    return undefined;
  }
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new SvcError('invalid_argument', `environment: ${name} names ${path}, which cannot be read: ${messageOf(error)}`);
  }
}

const meant = (name: string, known: Iterable<string>): string => {
  const guess = nearest(name, known);
  return guess === undefined ? '' : `; did you mean ${guess}?`;
};
