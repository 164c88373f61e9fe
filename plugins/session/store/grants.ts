import { type Access, covers, type Principal } from 'svc/sdk';

/** Returns the actions that both lists allow. */
export function intersection(
  some: readonly string[],
  others: readonly string[],
): readonly string[] {
  const within = (inner: readonly string[], outer: readonly string[]): string[] =>
    inner.filter((action) => outer.some((grant) => covers(grant, action)));
  return [...new Set([...within(some, others), ...within(others, some)])];
}

export const holdsEverything = ({ grants }: Principal): boolean => grants.includes('*');

/** Action that every signed-in person has, and an API token only if it was granted. */
export const reading = 'read:*';

/** Reading of the areas that have something to read, as an action of API tokens: `read:device`. */
export const readingsOf = (
  routes: readonly { readonly access: Access; readonly pluginId: string }[],
): readonly string[] => [
  ...new Set(
    routes.filter(({ access }) => access === 'any').map(({ pluginId }) => `read:${pluginId}`),
  ),
];

/** Adds read access to areas that are granted as a whole. */
export const withReading = (actions: readonly string[]): readonly string[] => [
  ...actions,
  ...actions
    .filter((action) => action.endsWith(':*') && action !== reading)
    .map((action) => `read:${action.slice(0, -2)}`),
];
