import { defineService } from 'svc/sdk';

/** Permissions that a manifest requests, in readable form. */
export interface AskedRights {
  /** Empty: it is data, and asks for nothing. */
  readonly sentences: readonly string[];
  readonly hash: string;
  /** Why nobody can grant them. */
  readonly refused: string | undefined;
}

/** Rights of packs, for who installs them. */
export interface PackRights {
  /**
   * Returns the permissions requested by a `plugin.json` as written; throws if a field has the
   * wrong type.
   */
  asked(manifest: Readonly<Record<string, unknown>>): AskedRights;
  /** Completes "it …" with why a pack with this `plugin.json` would not work, as other plugins find out. */
  fault(manifest: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  isGranted(id: string, hash: string): boolean;
  /** Exactly these, by the hash of what was shown. */
  grant(id: string, rights: AskedRights, by: string): Promise<void>;
  withdraw(id: string, hash: string): Promise<void>;
  /** Describes in a sentence how the code of packs is confined on this machine. */
  confinement(): Promise<string>;
}

export const PackRights = defineService<PackRights>('packs.rights');
