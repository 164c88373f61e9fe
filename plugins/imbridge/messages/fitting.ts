import type { ImPlatform } from 'svc/contracts/imbridge';
import { withoutImages, withoutMentions } from 'svc/im';

/** Returns whether a text is short enough for one message of a platform. */
export const fitting =
  ({ max_size: max, sizeOf = Buffer.byteLength }: ImPlatform) =>
  (text: string): boolean =>
    sizeOf(text) <= max;

/** Removes mentions, images and invisible characters; platforms escape the rest themselves. */
export const harmless = (text: string): string =>
  withoutMentions(withoutImages(text.replaceAll(/[^\P{Cc}\n\t]/gu, ''))).trim() || '…';
