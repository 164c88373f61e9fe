import { type Reader, seesObservations } from '../documents/reader.ts';
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

/** Audiences that a reader belongs to. */
export interface Audiences {
  /** Undefined means those of every organization. */
  readonly among: readonly number[] | undefined;
  /** True if documents with observations about devices are among them. */
  readonly ofDevices: boolean;
}

export function audiencesOf(reader: Reader): Audiences {
  const ofDevices = seesObservations(reader);
  if (reader.orgs === undefined) {
    return { among: undefined, ofDevices };
  }
  const own = [0, ...reader.orgs];
  return { among: ofDevices ? [...own, ...own.map((org) => -1 - org)] : own, ofDevices };
}
