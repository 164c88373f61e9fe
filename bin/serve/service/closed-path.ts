import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The first folder or file on the way to these that is closed to others. */
export function closedPath(programs: readonly string[]): string | undefined {
  return programs
    .flatMap((program) => wayTo(realpathSync(program)))
    .find((path) => {
      const stat = statSync(path);
      return (stat.mode & (stat.isDirectory() ? 0o001 : 0o004)) === 0;
    });
}

const wayTo = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [...wayTo(dirname(path)), path];
