import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** One import as it is written: static, re-exported, dynamic, required, or a type's `import('…')`. */
export interface Import {
  readonly specifier: string;
  /** Erased before anything runs. */
  readonly typeOnly: boolean;
}

/** Source file, with its code separated from comments and strings. */
export interface Source {
  /** Path from the project root. */
  readonly path: string;
  readonly text: string;
  /** The text, same length and lines, with comments and the insides of strings and patterns blanked out. */
  readonly code: string;
  readonly imports: readonly Import[];
}

export function source(path: string, text: string): Source {
  const code = codeOf(text);
  return { path, text, code, imports: importsOf(text, code) };
}

/** Every program file below the folders; fixtures, which are bad on purpose, are left out. */
export function sourcesIn(...folders: string[]): Source[] {
  return folders
    .flatMap(filesIn)
    .filter((path) => /\.(tsx?|mjs)$/.test(path) || path === 'bin/svc')
    .map((path) => source(path, readFileSync(join(projectRoot, path), 'utf8')));
}

export function filesIn(folder: string): string[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath.slice(projectRoot.length), entry.name))
    .filter((path) => !path.includes('/fixtures/'))
    .sort();
}

/** Resolves a relative specifier to a path from the project root; undefined for a package. */
export function target(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined;
}

const importForms: readonly RegExp[] = [
  /\b(?:import|export)\s+(type\s)?[^'"`;()]*?\bfrom\s*(['"])/g,
  /\bimport\s*()(['"])/g,
  /(\btypeof\s+)?\bimport\s*\(\s*(['"`])/g,
  /\brequire(?:\.resolve)?\s*\(\s*()(['"`])/g,
];

function importsOf(text: string, code: string): Import[] {
  return importForms.flatMap((form) =>
    [...code.matchAll(form)].map((match) => {
      const open = match.index + match[0].length;
      const close = code.indexOf(match[2]!, open);
      // `import('x').Name` is a type; the value would stand behind an `await`.
      return {
        specifier: text.slice(open, close),
        typeOnly: Boolean(match[1]) || /^.\)\s*\.\s*[A-Z]/.test(code.slice(close)),
      };
    }),
  );
}

const comment = /\/\/[^\n]*|\/\*[^]*?\*\/|#![^\n]*/y;
const quoted = /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/y;
const pattern = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//y;
/** Matches from a backtick, or from the brace that ends a `${…}`, to the next of either. */
const template = /[`}](?:\\[^]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;

/** Blanks what is not code. Not a parser: it knows just enough to tell where strings, patterns and comments end. */
function codeOf(text: string): string {
  let code = '';
  /** Braces open inside each `${…}` that we stand in, innermost last. */
  const holes: number[] = [];
  const next = (form: RegExp): string | undefined => {
    form.lastIndex = code.length;
    return form.exec(text)?.[0];
  };
  while (code.length < text.length) {
    const char = text[code.length]!;
    const remark = next(comment);
    const literal =
      remark === undefined
        ? (next(quoted) ?? (char === '/' && patternMayStand(code) ? next(pattern) : undefined))
        : undefined;
    const chunk = char === '`' || (char === '}' && holes.at(-1) === 0) ? next(template) : undefined;
    if (remark !== undefined) {
      code += blank(remark);
    } else if (literal !== undefined) {
      code += char + blank(literal.slice(1, -1)) + char;
    } else if (chunk !== undefined) {
      if (char === '}') {
        holes.pop();
      }
      const end = chunk.endsWith('`') ? '`' : '${';
      if (end === '${') {
        holes.push(0);
      }
      code += char + blank(chunk.slice(1, -end.length)) + end;
    } else {
      if (holes.length > 0 && (char === '{' || char === '}')) {
        holes[holes.length - 1]! += char === '{' ? 1 : -1;
      }
      code += char;
    }
  }
  return code;
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** A `/` opens a regular expression where a value may begin; after a value it divides. */
const patternMayStand = (code: string): boolean =>
  /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|yield|await|delete|throw|else|do))$/.test(
    code.trimEnd().slice(-20),
  );
