import type { Check } from '../check/check.ts';

/**
 * Returns whether announced work covers a check now. Who silences what is already down says so of
 * the alert; the downtime stays downtime.
 */
export const isMaintained = (
  { state, since }: Pick<Check, 'state' | 'since'>,
  announcedAt: number | undefined,
): boolean => announcedAt !== undefined && (state !== 'down' || announcedAt <= since);
