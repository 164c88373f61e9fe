import { RE2JS } from 're2js';
import { type Glob, matchesPath, parseGlob } from 'svc/probe';
import { messageOf } from 'svc/sdk';

import { type Stream, streamOf } from './draft.ts';
import { errors } from './errors.ts';
import type { FileGroupSpec } from './spec.ts';

/** Group of files, resolved. */
export interface Group {
  readonly globs: readonly Glob[];
  holds(path: string): boolean;
  excludes(path: string): boolean;
  stream(path: string): Stream;
  readonly starts: ((line: string) => boolean) | undefined;
  readonly waitMs: number;
}

export function makeGroup(spec: FileGroupSpec, host: string): Group {
  const globs = spec.paths.flatMap(parseGlob);
  const excluded = spec.exclude.flatMap(parseGlob);
  const excludes = (path: string): boolean => excluded.some((glob) => matchesPath(glob, path));
  return {
    globs,
    holds: (path) => globs.some((glob) => matchesPath(glob, path)) && !excludes(path),
    excludes,
    stream: (path) =>
      streamOf({ ...spec.labels, job: spec.job, host, filename: path.slice(0, longestLabel) }),
    starts: spec.multiline_start === '' ? undefined : startOf(spec.multiline_start),
    waitMs: spec.multiline_wait_ms,
  };
}

const longestLabel = 1_024;

function startOf(text: string): (line: string) => boolean {
  try {
    const pattern = RE2JS.compile(text);
    return (line) => pattern.matcher(line).find();
  } catch (error) {
    throw errors.multiline_start({ text, cause: messageOf(error) });
  }
}
