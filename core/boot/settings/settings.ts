import type { Misfit, Schemas } from '../../host/index.ts';
import {
  type Disposer,
  type FieldProblem,
  type Logger,
  messageOf,
  nearest,
  type SettingDeclaration,
  type SettingsBoard,
  type SettingState,
} from '../../sdk/index.ts';
import { type Environment, type EnvironmentLayer, environmentLayer } from './environment.ts';
import { errors } from './errors.ts';
import type { KnownSettings } from './known-settings.ts';

export type { Environment };

interface Declared {
  readonly owner: string;
  readonly declaration: SettingDeclaration;
}

export interface SettingsOptions {
  readonly schemas: Schemas;
  readonly shipped?: ReadonlyMap<string, unknown>;
  readonly log?: (() => Logger) | undefined;
}

/** Every declared setting and its effective value: environment, then database, then file, then default. */
export class Settings implements SettingsBoard {
  readonly #environment: Environment;
  readonly #fromEnvironment: EnvironmentLayer;
  readonly #file: ReadonlyMap<string, unknown>;
  /**
   * Values of the product's defaults file. They count as defaults, so that `file` means a file of the
   * operator.
   */
  readonly #shipped: ReadonlyMap<string, unknown>;
  /** Valid values only. */
  readonly #database = new Map<string, unknown>();
  /**
   * Declarations of each key: the last one applies, and the previous one again when that is
   * withdrawn.
   */
  readonly #declared = new Map<string, readonly Declared[]>();
  readonly #watchers = new Set<{
    key: string;
    last: unknown;
    listener: (value: unknown) => unknown;
  }>();
  readonly #declaring = new Set<() => void>();
  readonly #schemas: Schemas;
  readonly #onWatcherError: (key: string, error: unknown) => void;

  constructor(
    environment: Environment,
    file: ReadonlyMap<string, unknown>,
    { schemas, shipped = new Map<string, unknown>(), log }: SettingsOptions,
  ) {
    this.#schemas = schemas;
    this.#environment = environment;
    this.#fromEnvironment = environmentLayer(environment);
    this.#file = file;
    this.#shipped = shipped;
    this.#onWatcherError = (key, error) =>
      log?.().error(
        { setting: key, error },
        `a listener of setting ${key} failed: ${messageOf(error)}`,
      );
  }

  /** Keys and listeners, for the census. */
  get size(): { readonly keys: number; readonly watchers: number } {
    return { keys: this.#declared.size, watchers: this.#watchers.size };
  }

  /**
   * Adds the keys of one owner; a bad value in the environment or file stops here, naming where it stands. Defaults
   * are checked only when `strange`, for those of packs: what ships has tests, and checking it would compile every schema at each start.
   */
  declare(
    owner: string,
    declarations: Readonly<Record<string, SettingDeclaration>>,
    strange = true,
  ): Disposer {
    const added = Object.entries(declarations).map(([key, declaration]) => {
      const held = this.#declared.get(key)?.at(-1);
      if (held && held.owner !== owner) {
        throw errors.setting_declared_twice({ key, holder: held.owner, owner });
      }
      this.#assertLayers(key, declaration, strange);
      return [key, { owner, declaration }] as const;
    });
    Object.entries(declarations).forEach(([key, declaration]) =>
      this.#assertDiffers(key, declaration, declarations),
    );
    added.forEach(([key, declared]) =>
      this.#declared.set(key, [...(this.#declared.get(key) ?? []), declared]),
    );
    this.#settle();
    return () => {
      for (const [key, declared] of added) {
        const others = this.#declared.get(key)?.filter((other) => other !== declared) ?? [];
        if (others.length > 0) {
          this.#declared.set(key, others);
        } else {
          this.#declared.delete(key);
        }
      }
      this.#settle();
    };
  }

  get<T>(key: string): T {
    return this.state(key).value as T;
  }

  find(key: string): SettingState | undefined {
    const declared = this.#declared.get(key)?.at(-1);
    return declared && { key, ...declared, ...this.#effective(key, declared.declaration) };
  }

  state(key: string): SettingState {
    const found = this.find(key);
    if (!found) {
      throw errors.no_setting({ key, hint: meant(key, this.#declared.keys()) });
    }
    return found;
  }

  list(): readonly SettingState[] {
    return [...this.#declared.keys()].sort().map((key) => this.state(key));
  }

  check(key: string, value: unknown): void {
    const { declaration } = this.state(key);
    if (declaration.at_start) {
      const places = declaration.env === undefined ? 'svc.yaml' : `${declaration.env} or svc.yaml`;
      throw errors.setting_at_start({ key, places });
    }
    this.#assertFits(key, declaration, value, 'the value');
  }

  override(key: string, value: unknown): void {
    if (value === undefined) {
      this.#database.delete(key);
    } else {
      this.check(key, value);
      this.#database.set(key, value);
    }
    this.#notify();
  }

  watch<T>(key: string, listener: (value: T) => unknown): Disposer {
    const watcher = {
      key,
      last: this.state(key).value,
      listener: listener as (value: unknown) => unknown,
    };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  onDeclared(listener: () => void): () => void {
    this.#declaring.add(listener);
    return () => this.#declaring.delete(listener);
  }

  /**
   * Refuses names and keys that are not declared, so that a typo never passes for a setting. Those of plugins that are away,
   * as `absent` has them, are answered instead.
   */
  assertAllKnown(
    alsoEnvironment: ReadonlySet<string>,
    fileKeys: Iterable<string>,
    file: string,
    absent: KnownSettings = {},
  ): readonly string[] {
    const away = (name: string): boolean => Object.hasOwn(absent, name);
    const unused: string[] = [];
    const names = new Set(alsoEnvironment);
    for (const { declaration } of [...this.#declared.values()].flat()) {
      if (declaration.env !== undefined) {
        names.add(declaration.env);
        names.add(`${declaration.env}_FILE`);
      }
    }
    for (const name of Object.keys(this.#environment)) {
      if (!name.startsWith('SVC_') || names.has(name)) {
        continue;
      }
      if (away(name)) {
        unused.push(name);
      } else {
        throw errors.variable_unknown({ name, hint: meant(name, names) });
      }
    }
    for (const key of fileKeys) {
      if (this.#declared.has(key)) {
        continue;
      }
      if (away(key)) {
        unused.push(key);
      } else {
        throw errors.config_key_unknown({ file, key, hint: meant(key, this.#declared.keys()) });
      }
    }
    return unused;
  }

  #effective(
    key: string,
    declaration: SettingDeclaration,
  ): { value: unknown; source: SettingState['source'] } {
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
    return {
      value: this.#shipped.has(key) ? this.#shipped.get(key) : declaration.default,
      source: 'default',
    };
  }

  #assertLayers(key: string, declaration: SettingDeclaration, strange: boolean): void {
    const fromEnvironment = this.#fromEnvironment(declaration);
    if (fromEnvironment !== undefined) {
      this.#assertFits(key, declaration, fromEnvironment, `environment: ${declaration.env}`);
    }
    if (this.#file.has(key)) {
      this.#assertFits(key, declaration, this.#file.get(key), `configuration file: ${key}`);
    }
    if (
      this.#shipped.has(key) &&
      JSON.stringify(this.#shipped.get(key)) !== JSON.stringify(declaration.default)
    ) {
      this.#assertFits(key, declaration, this.#shipped.get(key), `the defaults file: ${key}`);
    }
    if (strange && declaration.default !== undefined) {
      this.#assertFits(key, declaration, declaration.default, `the declared default of ${key}`);
    }
  }

  /** Throws if a password equals the user name, which the shape of neither can tell. */
  #assertDiffers(
    key: string,
    declaration: SettingDeclaration,
    declarations: Readonly<Record<string, SettingDeclaration>>,
  ): void {
    const other = declaration.differs_from;
    if (other === undefined) {
      return;
    }
    const beside = declarations[other];
    if (!beside?.at_start || !declaration.at_start) {
      throw errors.setting_apart_undeclared({ key, other });
    }
    const [own, its] = [
      foldedText(this.#effective(key, declaration).value),
      foldedText(this.#effective(other, beside).value),
    ];
    if (own !== '' && own === its) {
      throw errors.setting_repeats({
        name: declaration.env ?? key,
        other: beside.env ?? other,
        key,
        description: declaration.description,
      });
    }
  }

  /** Drops what changed declarations no longer allow, before anybody reads it. */
  #settle(): void {
    for (const [key, value] of this.#database) {
      const declared = this.#declared.get(key)?.at(-1);
      if (declared && this.#misfit(declared.declaration.schema, value)) {
        this.#database.delete(key);
      }
    }
    this.#declaring.forEach((listener) => listener());
    this.#notify();
  }

  #misfit(schema: object, value: unknown): FieldProblem | undefined {
    const [first] = this.#schemas.compile(schema)(value);
    return first && problemOf(first);
  }

  #assertFits(
    key: string,
    { schema, description }: SettingDeclaration,
    value: unknown,
    where: string,
  ): void {
    const problem = this.#misfit(schema, value);
    if (problem) {
      const inside = problem.path === '' ? '' : ` (${problem.path.slice(1).replaceAll('/', '.')})`;
      throw errors.setting_value(
        { where, inside, problem: problem.message, key, description },
        {
          details: [{ path: `/value${problem.path}`, message: problem.message }],
        },
      );
    }
  }

  #notify(): void {
    for (const watcher of this.#watchers) {
      const state = this.find(watcher.key);
      if (!state || JSON.stringify(state.value) === JSON.stringify(watcher.last)) {
        continue;
      }
      const { value } = state;
      watcher.last = value;
      Promise.resolve()
        .then(() => watcher.listener(value))
        .catch((error: unknown) => this.#onWatcherError(watcher.key, error));
    }
  }
}

/** The first problem. It never repeats the value, which may be a secret. */
function problemOf({ keyword, params, instancePath, message, parentSchema }: Misfit): FieldProblem {
  const allowed =
    keyword === 'enum' ? `: ${(params['allowedValues'] as unknown[]).join(', ')}` : '';
  const [example] = parentSchema?.examples ?? [];
  // A regular expression does not help people who have to write the value.
  const misfit =
    keyword === 'pattern' && example !== undefined
      ? `must be written like ${example}`
      : (message ?? 'does not fit');
  return { path: instancePath, message: `${misfit}${allowed}` };
}

const foldedText = (value: unknown): string =>
  typeof value === 'string' ? value.trim().normalize('NFC').toLowerCase() : '';

const meant = (name: string, known: Iterable<string>): string => {
  const guess = nearest(name, known);
  return guess === undefined ? '.' : `; did you mean ${guess}?`;
};
