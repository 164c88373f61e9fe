import { queryError } from 'svc/query';

import { printField } from '../parse/print.ts';
import { scopeOf } from '../spans/source.ts';

export interface TagSearch {
  /** Keys and values as logfmt: `service.name=checkout http.status_code=500 name="GET /"`. */
  readonly tags?: string;
  /** Min duration, such as `50ms`. */
  readonly minDuration?: string;
  readonly maxDuration?: string;
}

const pairForm = /\s*(?:([^\s=]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))|$)/y;
const durationForm = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;

/** A search by tags as TraceQL: each one equals, whatever its type. */
export function queryOfTags({ tags = '', minDuration, maxDuration }: TagSearch): string {
  const conditions = pairsIn(tags).map(([key, value]) => conditionOf(key, value));
  for (const [name, operator, duration] of [
    ['minDuration', '>=', minDuration],
    ['maxDuration', '<=', maxDuration],
  ] as const) {
    if (duration !== undefined && duration !== '') {
      if (!durationForm.test(duration)) {
        throw queryError(
          'bad_data',
          `invalid ${name}: time: invalid duration ${JSON.stringify(duration.slice(0, 64))}`,
        );
      }
      conditions.push(`duration ${operator} ${duration}`);
    }
  }
  return `{ ${conditions.join(' && ')} }`;
}

function pairsIn(text: string): [key: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < text.length; at = pairForm.lastIndex) {
    pairForm.lastIndex = at;
    const match = pairForm.exec(text);
    if (match === null) {
      throw queryError('bad_data', `invalid tags: expecting key=value at position ${at + 1}`);
    }
    if (match[1] !== undefined) {
      pairs.push([match[1], match[2]?.replaceAll(/\\(.)/g, '$1') ?? match[3]!]);
    }
  }
  return pairs;
}

function conditionOf(key: string, value: string): string {
  const text = JSON.stringify(value);
  switch (key) {
    case 'name':
      return `name = ${text}`;
    case 'root.service.name':
      return `rootServiceName = ${text}`;
    case 'root.name':
      return `rootName = ${text}`;
    case 'error':
      return value === 'true' ? 'status = error' : 'status != error';
    case 'status.code':
      return `status = ${['ok', 'error', 'unset'].includes(value) ? value : 'unset'}`;
  }
  const field = printField({ kind: 'attribute', scope: scopeOf(key), ofParent: false, name: key });
  const literal =
    /^-?\d{1,15}(?:\.\d+)?$/.test(value) || value === 'true' || value === 'false'
      ? ` || ${field} = ${value}`
      : '';
  return `(${field} = ${text}${literal})`;
}
