import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One package that the product needs at run time, as the lockfile has it. */
export interface Package {
  /** Path that distinguishes versions of one package: `node_modules/ajv`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** SPDX expression; undefined where neither the package nor the lockfile names one. */
  readonly licence: string | undefined;
  readonly integrity: string | undefined;
  readonly resolved: string | undefined;
  /** True if it is only for some machines, and nothing fails without it. */
  readonly optional: boolean;
  /** Paths of the packages that it asks for itself. */
  readonly needs: readonly string[];
}

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: unknown;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, LockEntry>>;

/** The packages below `root` that are not for development only, in the order of their paths; first what the product itself asks for. */
export function runTimePackages(root: string): {
  readonly direct: readonly string[];
  readonly packages: readonly Package[];
} {
  const lock = (
    JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { readonly packages: Lock }
  ).packages;
  const packages = Object.entries(lock)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, entry]) => packageOf(root, path, entry, lock));
  return { direct: needsOf('', lock['']!, lock), packages };
}

function packageOf(root: string, path: string, entry: LockEntry, lock: Lock): Package {
  const installed = manifestIn(join(root, path));
  // The addon has a second edition, which takes the place of the one in the lockfile; its hash is not known here.
  const isLocked = installed?.version === undefined || installed.version === entry.version;
  return {
    path,
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version: (isLocked ? entry.version : installed.version) ?? '',
    licence:
      licenceText(installed?.license) ??
      licenceChoice(installed?.licenses) ??
      licenceText(entry.license),
    integrity: isLocked ? entry.integrity : undefined,
    resolved: isLocked ? entry.resolved : undefined,
    optional: entry.optional === true,
    needs: needsOf(path, entry, lock),
  };
}

/**
 * Returns the manifest of a package; one for another machine is not installed here, and taken from
 * the lockfile.
 */
function manifestIn(
  folder: string,
):
  | { readonly version?: string; readonly license?: unknown; readonly licenses?: unknown }
  | undefined {
  const file = join(folder, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : undefined;
}

/** An expression, or the object that old packages write instead. */
function licenceText(licence: unknown): string | undefined {
  const text =
    typeof licence === 'object' && licence !== null
      ? (licence as { readonly type?: unknown }).type
      : licence;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

/** The list to choose from that older packages have still. */
function licenceChoice(licences: unknown): string | undefined {
  const texts = Array.isArray(licences) ? licences.map(licenceText) : [];
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join(' OR ');
}

/** Resolves dependencies as Node does: in the nearest node_modules that has one. */
function needsOf(
  path: string,
  { dependencies, optionalDependencies }: LockEntry,
  lock: Lock,
): string[] {
  const found = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) =>
    nearest(path, name, lock),
  );
  return found.filter((place) => place !== undefined).sort();
}

function nearest(from: string, name: string, lock: Lock): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const place =
      folder === '' || folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (place in lock) {
      return place;
    }
    if (folder === '' || folder === '.') {
      return undefined;
    }
  }
}
