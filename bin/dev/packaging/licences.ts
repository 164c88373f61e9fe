import type { Package } from './packages.ts';

/** Licences under which a package may be shipped inside the product without a review. */
export const acceptedLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
]);

/** Why packages may not be shipped, a sentence each. */
export function licenceProblems(packages: readonly Package[]): string[] {
  return packages.flatMap(({ path, version, licence }) => {
    if (licence === undefined) {
      return [`${path} ${version} names no licence: ask its authors, or do without it`];
    }
    return isAccepted(licence)
      ? []
      : [
          `${path} ${version} is under "${licence}", which is not accepted: do without it, or have the licence judged`,
        ];
  });
}

/**
 * Returns whether a licence expression is accepted; one accepted alternative suffices. Anything but
 * a plain choice or sum of licences is not understood, and so not accepted.
 */
function isAccepted(expression: string): boolean {
  return expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => acceptedLicences.has(licence)));
}
