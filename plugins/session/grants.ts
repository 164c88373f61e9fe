import type { Principal } from 'svc/sdk';

/** Whether holding `grant` allows `action`, which may be a wildcard itself. */
export const covers = (grant: string, action: string): boolean =>
  grant === '*' || grant === action || (grant.endsWith(':*') && action.startsWith(grant.slice(0, -1)));

/** What both lists allow. */
export function intersection(some: readonly string[], others: readonly string[]): readonly string[] {
  const within = (inner: readonly string[], outer: readonly string[]): string[] => inner.filter((action) => outer.some((grant) => covers(grant, action)));
  return [...new Set([...within(some, others), ...within(others, some)])];
}

export const holdsEverything = ({ grants }: Principal): boolean => grants.includes('*');
