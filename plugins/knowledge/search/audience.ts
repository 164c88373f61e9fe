import type { Reader } from '../documents/doc-store.ts';
import type { DocRow } from '../documents/tables.ts';

/**
 * Returns the readers of a document as one number of the index: everybody (0), members of an
 * organization; below 0: those of them who see all devices.
 */
export const audienceOf = ({
  org_id: org,
  of_devices: ofDevices,
}: Pick<DocRow, 'org_id' | 'of_devices'>): number =>
  ofDevices === 1 ? -1 - (org ?? 0) : (org ?? 0);

/** Returns the audiences that a reader belongs to; undefined means all. */
export function audiencesOf({ orgs, selectors }: Reader): readonly number[] | undefined {
  if (orgs === undefined) {
    return undefined;
  }
  const own = [0, ...orgs];
  return selectors === undefined ? [...own, ...own.map((org) => -1 - org)] : own;
}
