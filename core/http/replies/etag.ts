import { SvcError } from '../../sdk/index.ts';

/** A resource that is replaced as a whole carries the instant of its last change; that is its version. */
export const etagOf = (resource: { readonly updated_at: string }): string => `"${resource.updated_at}"`;

/** The tag of a reply, when it is a resource with a version. */
export function replyTag(body: unknown): string | undefined {
  const updated = typeof body === 'object' && body !== null ? (body as { updated_at?: unknown }).updated_at : undefined;
  return typeof updated === 'string' && /^[\x21\x23-\x7e]{1,100}$/.test(updated) ? etagOf({ updated_at: updated }) : undefined;
}

/** Whether a header such as `"a", W/"b"` or `*` names `tag`. Proxies that compress weaken tags, so `W/` is looked through. */
export function namesTag(header: string, tag: string): boolean {
  return header.split(',').some((entry) => {
    const candidate = entry.trim();
    return candidate === '*' || candidate.replace(/^W\//, '') === tag;
  });
}

export function requireMatch(ifMatch: string | undefined, resource: { readonly updated_at: string }): void {
  if (ifMatch !== undefined && !namesTag(ifMatch, etagOf(resource))) {
    throw new SvcError('conflict', `this was changed at ${resource.updated_at}, after you read it; load it again and repeat your change`);
  }
}
