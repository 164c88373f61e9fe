import { covers, type Principal } from 'svc/sdk';

/** What both lists allow. */
export function intersection(some: readonly string[], others: readonly string[]): readonly string[] {
  const within = (inner: readonly string[], outer: readonly string[]): string[] => inner.filter((action) => outer.some((grant) => covers(grant, action)));
  return [...new Set([...within(some, others), ...within(others, some)])];
}

export const holdsEverything = ({ grants }: Principal): boolean => grants.includes('*');
