import { SvcError } from '../../sdk/index.ts';

const mostParameters = 100;

/** The query as an object without a prototype; a name that comes twice is a list. */
export function parseQuery(search: string): Record<string, unknown> {
  const query = Object.create(null) as Record<string, unknown>;
  if (search === '') {
    return query;
  }
  const pairs = search.split('&');
  if (pairs.length > mostParameters) {
    throw new SvcError('invalid_argument', `the query has ${pairs.length} parameters; at most ${mostParameters} are read`);
  }
  for (const pair of pairs) {
    if (pair === '') {
      continue;
    }
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    const earlier = query[name];
    query[name] = earlier === undefined ? value : Array.isArray(earlier) ? [...(earlier as string[]), value] : [earlier, value];
  }
  return query;
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) {
    return text;
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new SvcError('invalid_argument', 'the query has a broken percent encoding');
  }
}
