import { defineExtensionPoint } from 'svc/sdk';

/** A pack that was taken away. */
export interface GonePack {
  readonly packId: string;
  /** Names of the personas that it and its version before brought. */
  readonly personas: readonly string[];
  /** Keys of the skills that its code answered, and that of its version before. */
  readonly tools: readonly string[];
  /** Whoever took it away keeps its tables and settings, and what they say of it, for a later install. */
  readonly keepData: boolean;
}

/** What an area keeps of packs, forgotten with them; asked again where that failed, so that nothing may be left to forget. */
export interface PackTraces {
  forget(pack: GonePack): Promise<void>;
}

export const PackTraces = defineExtensionPoint<PackTraces>('marketplace.traces');
