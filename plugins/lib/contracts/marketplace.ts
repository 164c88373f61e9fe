import { defineExtensionPoint } from 'svc/sdk';

/** Pack that was uninstalled. */
export interface GonePack {
  readonly packId: string;
  /** Names of the personas that it and its version before brought. */
  readonly personas: readonly string[];
  /** Keys of the skills that its code provided, and those of its previous version. */
  readonly tools: readonly string[];
  /** Keeps its tables and settings, and what they refer to, for a later install. */
  readonly keepData: boolean;
}

/**
 * Data that an area keeps about packs, deleted with them; called again after a failure, so it may
 * find nothing left to delete.
 */
export interface PackTraces {
  forget(pack: GonePack): Promise<void>;
}

export const PackTraces = defineExtensionPoint<PackTraces>('marketplace.traces', undefined, {
  methods: ['forget'],
});
