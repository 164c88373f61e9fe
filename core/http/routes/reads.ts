import type { RouteDeclaration } from '../../sdk/index.ts';

/**
 * Areas that an API token must be allowed to read to get the whole answer. What an action guards and
 * does not answer shows nothing; a GET that it guards shows what the action lets its holder read.
 */
export function readsOf(
  { reads, access, method, kind, response }: RouteDeclaration,
  area: string,
): readonly string[] {
  if (reads !== undefined) {
    return reads === 'none' ? [] : reads;
  }
  if (typeof access === 'string' && ['public', 'known', 'admin', 'machine'].includes(access)) {
    return [];
  }
  const isSilent = kind === 'json' && response === undefined;
  return access === 'any' || (method !== 'GET' && !isSilent) ? [area] : [];
}

/** Finds what is wrong with the declaration of what a route reads. */
export function readsProblem({
  reads,
  readsAsked,
  quotes,
  brief,
  access,
  response,
}: RouteDeclaration): string | undefined {
  const isWrong = (areas: unknown): boolean =>
    areas !== undefined && !(Array.isArray(areas) && areas.length > 0 && areas.every(isArea));
  if ((reads !== 'none' && isWrong(reads)) || isWrong(readsAsked) || isWrong(quotes)) {
    return 'reads or quotes what is no list of plugins such as ["device"]';
  }
  if (brief === undefined) {
    return undefined;
  }
  if (
    response === undefined ||
    ['public', 'known', 'any', 'admin', 'machine'].includes(access as string)
  ) {
    return 'has a brief answer, which only exists where an action guards a call with a response';
  }
  const { properties } = response as { properties?: Readonly<Record<string, unknown>> };
  const unknown = properties && brief.find((name) => !Object.hasOwn(properties, name));
  return unknown === undefined
    ? undefined
    : `has the field "${unknown}" in its brief answer, but not in its response`;
}

const isArea = (area: unknown): boolean =>
  typeof area === 'string' && /^[a-z][a-z0-9-]*$/.test(area);
