import type { SeenDevices } from 'svc/query';
import { defineEvent, defineService } from 'svc/sdk';

export const changeKinds = [
  ...(['deploy', 'config', 'rule', 'setting', 'upgrade', 'restart', 'reboot'] as const),
  ...(['plugin', 'package', 'cron', 'certificate', 'topology'] as const),
  // What somebody wrote at a moment: nothing was changed by it.
  'note',
] as const;

export type ChangeKind = (typeof changeKinds)[number];

/** Change as reported, before it has its position in the feed. */
export interface ChangeDraft {
  /** Permanently unique reference: a change that is reported twice is stored once. */
  readonly ref: string;
  /** When it happened, in milliseconds. */
  readonly at: number;
  readonly kind: ChangeKind;
  /** `api`, `audit`, `edge`, `metrics` or `svc`. */
  readonly source: string;
  readonly summary: string;
  readonly actor?: string | undefined;
  readonly device_id?: string | undefined;
  readonly edge_id?: string | undefined;
  readonly service?: string | undefined;
  readonly link?: string | undefined;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Change extends ChangeDraft {
  readonly id: number;
  readonly labels: Readonly<Record<string, string>>;
}

export interface ChangesNear {
  /** Milliseconds; start inclusive, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Limits to changes of these devices, and those that name no place; absent means all. */
  readonly device_ids?: readonly string[];
  readonly services?: readonly string[];
  /** Default 200, at most 1,000. */
  readonly limit?: number;
}

export interface ChangeFeed {
  /**
   * Returns changes, newest first; a user with access to some devices sees those of these devices
   * only.
   */
  near(asked: ChangesNear, seen: SeenDevices): Promise<readonly Change[]>;
  note(draft: ChangeDraft): Promise<void>;
}

export const ChangeFeed = defineService<ChangeFeed>('changes.near');

/** Fired after the commit that added it to the feed. */
export const ChangeNoted = defineEvent<Change>('change.noted');
