import { type Access, covers, type Principal } from 'svc/sdk';

/** What both lists allow. */
export function intersection(
  some: readonly string[],
  others: readonly string[],
): readonly string[] {
  const within = (inner: readonly string[], outer: readonly string[]): string[] =>
    inner.filter((action) => outer.some((grant) => covers(grant, action)));
  return [...new Set([...within(some, others), ...within(others, some)])];
}

export const holdsEverything = ({ grants }: Principal): boolean => grants.includes('*');

/** What every person may by signing in, and an API token only where it was given that. */
export const reading = 'read:*';

/** Reading of the areas that have something to read, as an action of API tokens: `read:device`. */
export const readingsOf = (
  routes: readonly { readonly access: Access; readonly pluginId: string }[],
): readonly string[] => [
  ...new Set(
    routes.filter(({ access }) => access === 'any').map(({ pluginId }) => `read:${pluginId}`),
  ),
];

/** Whoever gives a whole area gives the reading of it, too. */
export const withReading = (actions: readonly string[]): readonly string[] => [
  ...actions,
  ...actions
    .filter((action) => action.endsWith(':*') && action !== reading)
    .map((action) => `read:${action.slice(0, -2)}`),
];
