import { areasRead, covers, type Principal, type Skill } from 'svc/sdk';

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
  routes: readonly { readonly reads: readonly string[] }[],
  skills: readonly { readonly pluginId: string; readonly value: Skill }[],
): readonly string[] => {
  const areas = [
    ...routes.flatMap(({ reads }) => reads),
    ...skills.flatMap(({ pluginId, value }) =>
      value.kind === 'tool' ? areasRead(value, pluginId) : [],
    ),
  ];
  return [...new Set(areas)].map((area) => `read:${area}`);
};

/** Adds read access to areas that are granted as a whole. */
export const withReading = (actions: readonly string[]): readonly string[] => [
  ...actions,
  ...actions
    .filter((action) => action.endsWith(':*') && action !== reading)
    .map((action) => `read:${action.slice(0, -2)}`),
];
