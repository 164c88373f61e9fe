import { hash } from 'node:crypto';
import { errors } from './errors.ts';

/** Of a resource with a version: the instant at which somebody changed it last, and all that is shown, for its state changes by itself. */
export function replyTag(body: unknown, text = ''): string | undefined {
  const updated =
    typeof body === 'object' && body !== null
      ? (body as { updated_at?: unknown }).updated_at
      : undefined;
  return typeof updated === 'string' && /^[\x21\x23-\x7e]{1,100}$/.test(updated)
    ? `"${updated};${hash('sha256', text, 'base64url').slice(0, 22)}"`
    : undefined;
}

/** Whether a header such as `"a", W/"b"` or `*` names `tag`. Proxies that compress weaken tags, so `W/` is looked through. */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((entry) => {
    const candidate = entry.trim();
    return candidate === '*' || candidate.replace(/^W\//, '') === tag;
  });
}

/** Of a tag only the instant counts here: that its state is another by now does not undo what a person has read. */
export function requireMatch(
  ifMatch: string | undefined,
  resource: { readonly updated_at: string },
): void {
  if (
    ifMatch !== undefined &&
    !namesTag(ifMatch.replaceAll(/;[\w-]{22}"/g, '"'), `"${resource.updated_at}"`)
  ) {
    throw errors.changed_since({ at: resource.updated_at });
  }
}
