import { defineService } from 'svc/sdk';

/** What a manifest asks for, as people read it. */
export interface AskedRights {
  /** Empty: it is data, and asks for nothing. */
  readonly sentences: readonly string[];
  readonly hash: string;
  /** Why nobody can grant them. */
  readonly refused: string | undefined;
}

/** Rights of packs, for who installs them. */
export interface PackRights {
  /** Of a `plugin.json` as it was written; throws where a field of it is of the wrong kind. */
  asked(manifest: Readonly<Record<string, unknown>>): AskedRights;
  isGranted(id: string, hash: string): boolean;
  /** Exactly these, by the hash of what was shown. */
  grant(id: string, rights: AskedRights, by: string): Promise<void>;
  withdraw(id: string, hash: string): Promise<void>;
  /** What holds the code of packs on this machine, in a sentence. */
  confinement(): Promise<string>;
}

export const PackRights = defineService<PackRights>('packs.rights');
