import { hash } from 'node:crypto';
import { errors } from './errors.ts';

/**
 * Returns the tag of a reply; for a versioned resource the instant of its last change by a person,
 * plus everything shown, since its state changes on its own.
 */
export function replyTag(body: unknown, text = ''): string | undefined {
  const updated =
    typeof body === 'object' && body !== null
      ? (body as { updated_at?: unknown }).updated_at
      : undefined;
  return typeof updated === 'string' && /^[\x21\x23-\x7e]{1,100}$/.test(updated)
    ? `"${updated};${hash('sha256', text, 'base64url').slice(0, 22)}"`
    : undefined;
}

/**
 * Returns whether a header such as `"a", W/"b"` or `*` names `tag`. Compressing proxies weaken
 * tags, so `W/` is ignored.
 */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((entry) => {
    const candidate = entry.trim();
    return candidate === '*' || candidate.replace(/^W\//, '') === tag;
  });
}

/**
 * Throws unless the header matches. Only the instant in a tag counts here: a change of state does
 * not undo what a person has read.
 */
export function requireMatch(
  ifMatch: string | undefined,
  resource: { readonly updated_at: string },
): void {
  if (
    ifMatch !== undefined &&
    !namesTag(ifMatch.replaceAll(/;[\w-]{22}"/g, '"'), `"${resource.updated_at}"`)
  ) {
    // Without the instant: who may write may not be one who may read.
    throw errors.changed_since();
  }
}
