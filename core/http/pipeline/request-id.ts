import type { Ids } from '../../sdk/index.ts';

const sane = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id when it is fit for logs and headers, else a new one. */
export function requestIdOf(header: string | string[] | undefined, ids: Ids): string {
  return typeof header === 'string' && sane.test(header) ? header : ids.uuid();
}
