import { SvcError } from '../../sdk/index.ts';
import { errors } from './errors.ts';

const maxParameters = 100;
const plain = /^[A-Za-z0-9\-_~!$&'()*+,=:@/.]*$/;
/** Encoded slash, backslash and control characters, or the raw ones. */
// oxlint-disable-next-line no-control-regex
const forbidden = /%2f|%5c|%7f|%[01][0-9a-f]|[\\\u0000-\u0020\u007f-\uffff]/i;

/** Target of a request: its path in the only accepted spelling, and the query. */
export interface Target {
  readonly segments: readonly string[];
  readonly path: string;
  readonly search: string;
}

/** Splits the target once; a path with two readings is refused before anybody decides by it. */
export function readTarget(url: string): Target {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const search = mark < 0 ? '' : url.slice(mark + 1);
  if (path.charCodeAt(0) !== 47 /* / */) {
    throw errors.target_no_path();
  }
  if (path === '/') {
    return { segments: [], path, search };
  }
  const segments = path.slice(1).split('/');
  if (!plain.test(path)) {
    for (const [index, segment] of segments.entries()) {
      segments[index] = decode(segment);
    }
  }
  if (path.includes('/.') && segments.some(isDotSegment)) {
    throw errors.path_dots();
  }
  return { segments, path, search };
}

function decode(segment: string): string {
  if (forbidden.test(segment)) {
    throw errors.path_character();
  }
  try {
    const text = decodeURIComponent(segment);
    if (isDotSegment(text)) {
      throw errors.path_dots_encoded();
    }
    return text;
  } catch (error) {
    throw error instanceof SvcError ? error : errors.path_encoding();
  }
}

/**
 * Returns whether a segment is a dot segment, including `..;x`: some proxies drop what follows the
 * semicolon.
 */
const isDotSegment = (segment: string): boolean => /^\.{1,2}(;|$)/.test(segment);

/** The query as an object without a prototype; a name that comes twice is a list. */
export function parseQuery(search: string): Record<string, unknown> {
  const query = Object.create(null) as Record<string, unknown>;
  if (search === '') {
    return query;
  }
  const pairs = search.split('&');
  if (pairs.length > maxParameters) {
    throw errors.query_too_long({ count: pairs.length, max: maxParameters });
  }
  for (const pair of pairs) {
    if (pair === '') {
      continue;
    }
    const equals = pair.indexOf('=');
    const name = decodePart(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodePart(pair.slice(equals + 1));
    const earlier = query[name];
    query[name] =
      earlier === undefined
        ? value
        : Array.isArray(earlier)
          ? [...(earlier as string[]), value]
          : [earlier, value];
  }
  return query;
}

function decodePart(text: string): string {
  if (!text.includes('%') && !text.includes('+')) {
    return text;
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw errors.query_encoding();
  }
}
