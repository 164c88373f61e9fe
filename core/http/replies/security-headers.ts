/**
 * Headers of every reply, names and values alternating. An API answer is never a page: nothing in
 * it may load, run, be framed or be cached. A route that does serve a page overrides single
 * headers.
 */
export const securityHeaders: readonly string[] = Object.freeze(
  Object.entries({
    'content-security-policy':
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  }).flat(),
);

/** The fixed headers, with those that `own` names replaced and the rest of `own` added. */
export function withHeaders(own: readonly string[] | undefined): string[] {
  if (own === undefined) {
    return [...securityHeaders];
  }
  const headers: string[] = [];
  for (let index = 0; index < securityHeaders.length; index += 2) {
    if (!own.some((name, at) => at % 2 === 0 && name === securityHeaders[index])) {
      headers.push(securityHeaders[index]!, securityHeaders[index + 1]!);
    }
  }
  headers.push(...own);
  return headers;
}
