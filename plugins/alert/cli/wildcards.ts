import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Returns the files that a path with `*` and `?` matches, in order; other paths stand for
 * themselves.
 */
export function filesLike(path: string, folder: string): readonly string[] {
  const whole = resolve(folder, path);
  return isWild(whole) ? found(whole) : existsSync(whole) ? [whole] : [];
}

const isWild = (path: string): boolean => /[*?]/.test(path);

function found(path: string): readonly string[] {
  const above = dirname(path);
  const pattern = path.slice(above.length).replace(/^[/\\]/, '');
  const folders = isWild(above) ? found(above) : [above];
  return folders.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => isLike(name, pattern))
      .map((name) => join(folder, name)),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    // A file where a folder was meant, or one that may not be read, holds nothing.
    return [];
  }
}

/** `*` is any text and `?` any character; a name that begins with a dot is only meant by one that does, too. */
function isLike(name: string, pattern: string): boolean {
  if (name.startsWith('.') !== pattern.startsWith('.')) {
    return false;
  }
  let [at, from] = [0, 0];
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    if (
      from < pattern.length &&
      (pattern[from] === '?' || (pattern[from] !== '*' && pattern[from] === name[at]))
    ) {
      at += 1;
      from += 1;
    } else if (pattern[from] === '*') {
      star = from;
      from += 1;
      resume = at;
    } else if (star >= 0) {
      from = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  return Array.from(pattern.slice(from)).every((character) => character === '*');
}
