import { isBuiltin } from 'node:module';
import { posix } from 'node:path';

import type { Loader, TransformFailure } from 'esbuild';

import type { Bundle, PluginFolder } from '../../core/host/index.ts';
import { messageOf, type PluginManifest, SvcError } from '../../core/sdk/index.ts';
import { errors as bundlerErrors } from './errors.ts';
import { withBundler } from './esbuild.ts';

/** A file of the pack as CommonJS, and which of the others its imports mean. */
interface Module {
  readonly name: string;
  readonly code: string;
  readonly map: object;
  readonly links: Readonly<Record<string, string>>;
}

const loaders: Readonly<Record<string, Loader>> = {
  '.js': 'js',
  '.cjs': 'js',
  '.mjs': 'js',
  '.jsx': 'jsx',
  '.ts': 'ts',
  '.cts': 'ts',
  '.mts': 'ts',
  '.tsx': 'tsx',
  '.json': 'json',
};

/** Endings of a file name that an import may omit. */
const endings = ['', '.ts', '.tsx', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

const maxBytes = 8 * 1024 * 1024;

/**
 * Bundles an untrusted pack as one CommonJS text. The compiler translates texts, one by one, and
 * never gets a path: imports are resolved here, by the names of the files in the folder, so nothing
 * of this machine can enter the build.
 */
export async function bundlePack(
  folder: PluginFolder,
  { id, entry }: PluginManifest & { entry: string },
): Promise<Bundle> {
  const names = new Set(folder.files());
  const modules = new Map<string, Module>();
  const wanted = [entry];
  let bytes = 0;
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (!modules.has(name)) {
      const text = folder.read(name)!;
      bytes += text.length;
      if (bytes > maxBytes) {
        throw bundlerErrors.code_too_large({ id, maxBytes: maxBytes / 1024 / 1024 });
      }
      const module = await translated(id, name, text.toString('utf8'), names);
      modules.set(name, module);
      wanted.push(...Object.values(module.links));
    }
  }
  return {
    ...joined(entry, [...modules.values()]),
    filename: posix.join(folder.path, entry),
    inputs: [...modules.keys()].map((name) => posix.join(folder.path, name)),
  };
}

async function translated(
  id: string,
  name: string,
  text: string,
  names: ReadonlySet<string>,
): Promise<Module> {
  const loader = loaders[posix.extname(name)] ?? 'text';
  try {
    const { code, map } = await withBundler(id, (esbuild) =>
      esbuild.transform(text, {
        loader,
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        supported: { 'dynamic-import': false },
        sourcefile: name,
        sourcemap: 'external',
        sourcesContent: false,
        legalComments: 'none',
        tsconfigRaw: { compilerOptions: { target: 'ES2023' } },
        logLevel: 'silent',
      }),
    );
    // The first line may be for a shell.
    return {
      name,
      code: code.replace(/^#!.*/, ''),
      map: JSON.parse(map) as object,
      links: linksOf(id, name, loader === 'text' ? '' : code, names),
    };
  } catch (error) {
    throw error instanceof SvcError
      ? error
      : bundlerErrors.transform({ id, located: located(error as TransformFailure) });
  }
}

/** The compiler writes every import as this call; a text that only looks like one gets a link that nothing uses. */
function linksOf(
  id: string,
  from: string,
  code: string,
  names: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const links: Record<string, string> = {};
  for (const [, literal] of code.matchAll(/\brequire\(("(?:[^"\\\n]|\\.)*")\)/g)) {
    const specifier = specifierOf(literal!);
    if (specifier === undefined || specifier === 'svc/sdk' || isBuiltin(specifier)) {
      continue;
    }
    const target = /^\.\.?\//.test(specifier)
      ? posix.join(posix.dirname(from), specifier)
      : undefined;
    const found =
      target === undefined
        ? undefined
        : endings.map((ending) => target + ending).find((name) => names.has(name));
    if (found === undefined) {
      throw bundlerErrors.foreign_import({ id, from, specifier: JSON.stringify(specifier) });
    }
    links[specifier] = found;
  }
  return links;
}

function specifierOf(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    // Escapes of JavaScript alone: no import of a file needs one, and when it runs nothing is linked to it.
    return undefined;
  }
}

const located = ({ errors, message }: TransformFailure): string =>
  (errors ?? [])
    .slice(0, 3)
    .map(({ text, location }) =>
      location ? `${location.file}:${location.line}:${location.column} ${text}` : text,
    )
    .join('; ') ||
  message ||
  messageOf(errors);

/** One text: the modules as functions by their name, and the few lines that link them. */
function joined(entry: string, modules: readonly Module[]): Pick<Bundle, 'code'> {
  const sections: object[] = [];
  let text = 'const modules = {';
  let lines = 0;
  for (const { name, code, map, links } of modules) {
    text += `\n${JSON.stringify(name)}: [${JSON.stringify(links)}, function (module, exports, require) {\n`;
    lines += 2;
    sections.push({ offset: { line: lines, column: 0 }, map });
    text += `${code}\n}],`;
    lines += code.split('\n').length;
  }
  text += `\n};
const loaded = {};
function load(name) {
  if (!Object.hasOwn(loaded, name)) {
    const [links, run] = modules[name];
    const module = (loaded[name] = { exports: {} });
    run.call(module.exports, module, module.exports, (id) => (Object.hasOwn(links, id) ? load(links[id]) : require(id)));
  }
  return loaded[name].exports;
}
module.exports = load(${JSON.stringify(entry)});
`;
  const map = Buffer.from(JSON.stringify({ version: 3, sections })).toString('base64');
  return { code: `${text}//# sourceMappingURL=data:application/json;base64,${map}\n` };
}
