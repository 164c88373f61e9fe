import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { originsOf, type Place, type SourceMapText } from './source-map.ts';

const comment = '\n//# sourceMappingURL=';
const inline = `${comment}data:application/json;base64,`;
const place = /((?:(?:file:\/\/)?\/|embedded:)[^()\n]*?):(\d+):(\d+)(?=\)?$)/gm;
/** A generation that failed leaves the one before serving. */
const generations = 4;

/** Max cached origins of one text; the same few stacks recur. */
const mostOrigins = 2_000;

/**
 * Source maps of running texts. Node parses each as it compiles its text, which takes a seventh of
 * a start and 15 MB; most are never used, so here a map is read when a stack names its text. It is
 * not cached: expanded, that of the program takes 55 MB.
 */
class StackMaps {
  /** Maps of texts by the name that the text runs by: as they came with it, or the file that has it. */
  readonly #texts = new Map<string, Buffer | string>();
  /** Origins found, by text and position. */
  readonly #origins = new Map<string, Map<string, string | undefined>>();

  /** Makes every further stack of this thread refer to lines of the sources. */
  install(): void {
    Error.prepareStackTrace = (error: Error, sites) =>
      // oxlint-disable-next-line typescript/no-base-to-string -- a call site writes itself as it stands in stacks
      this.mapped([headOf(error), ...sites.map((site) => `    at ${site.toString()}`)].join('\n'));
  }

  /** Returns the text without its map, which is stored; unchanged if Node itself reads maps. */
  withoutMap(code: string, name: string): string {
    const { text, map } = process.sourceMapsEnabled
      ? { text: code, map: undefined }
      : splitMap(code);
    if (map === undefined) {
      return code;
    }
    const filename = placeOf(name);
    this.#origins.delete(filename);
    this.#texts.delete(filename);
    this.#texts.set(filename, map);
    const older = [...this.#texts.keys()]
      .filter((name) => name.replace(/#\d+$/, '') === filename.replace(/#\d+$/, ''))
      .slice(0, -generations);
    older.forEach((name) => [this.#texts, this.#origins].forEach((kept) => kept.delete(name)));
    return text;
  }

  /** Maps a stack, also of another thread, to positions in the sources where they are known. */
  mapped(stack: string): string {
    const unknown = new Map<string, Place[]>();
    for (const [, name, line, column] of stack.matchAll(place)) {
      const file = fileOf(name!);
      if (this.#origins.get(file)?.has(`${line}:${column}`) !== true) {
        unknown.set(file, [
          ...(unknown.get(file) ?? []),
          { line: Number(line), column: Number(column) },
        ]);
      }
    }
    unknown.forEach((places, file) => this.#find(file, places));
    return stack.replace(
      place,
      (found, name: string, line: string, column: string) =>
        this.#origins.get(fileOf(name))?.get(`${line}:${column}`) ?? found,
    );
  }

  #find(file: string, places: readonly Place[]): void {
    const known = this.#origins.get(file) ?? new Map<string, string | undefined>();
    if (known.size > mostOrigins) {
      known.clear();
    }
    const map = mapOf(
      this.#texts.get(file) ?? (/\.[mc]js$/.test(file) ? `${file}.map` : undefined),
    );
    const origins = map === undefined ? [] : originsOf(map, places);
    places.forEach(({ line, column }, at) => {
      const origin = origins[at];
      known.set(
        `${line}:${column}`,
        origin && `${sourceOf(origin.source, file)}:${origin.line}:${origin.column}`,
      );
    });
    this.#origins.set(file, known);
  }
}

/** Returns the head of an error, which may claim anything about itself, or throw. */
function headOf(error: Error): string {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
}

const fileOf = (name: string): string =>
  name.startsWith('file:') ? fileURLToPath(name) : placeOf(name);

/**
 * Returns the path of a text: contents of the single binary have none, while its threads use one.
 */
const placeOf = (name: string): string => (isAbsolute(name) ? name : `/${name.replace(':', '/')}`);

/**
 * Parses a map; undefined for a missing file or an invalid map, which leaves the stack unchanged.
 */
function mapOf(text: Buffer | string | undefined): SourceMapText | undefined {
  try {
    const json = typeof text === 'string' ? readFileSync(text, 'utf8') : text?.toString('utf8');
    return json === undefined ? undefined : (JSON.parse(json) as SourceMapText);
  } catch {
    return undefined;
  }
}

/** Splits a text from its map, which is at its end or in the file named there. */
export function splitMap(code: string): {
  readonly text: string;
  readonly map: Buffer | string | undefined;
} {
  const at = code.lastIndexOf(comment);
  const end = at === -1 ? '' : code.slice(at + comment.length).trimEnd();
  if (code.startsWith(inline, at)) {
    return {
      text: code.slice(0, at + 1),
      map: Buffer.from(code.slice(at + inline.length).trimEnd(), 'base64'),
    };
  }
  // Copied: the name would keep all of the text that it is a piece of.
  return isAbsolute(end) && end.endsWith('.map')
    ? { text: code.slice(0, at + 1), map: Buffer.from(end).toString() }
    : { text: code, map: undefined };
}

/** Returns the comment by which a text names the file of its map; Node reads it there, too. */
export const mapAt = (file: string): string => `${comment.slice(1)}${file}\n`;

const sourceOf = (source: string, file: string): string =>
  source.startsWith('file:') ? fileURLToPath(source) : resolve(dirname(file), source);

export const stackMaps = new StackMaps();
