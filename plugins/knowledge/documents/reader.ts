import { mayRead, type Principal } from 'svc/sdk';

/** Reader whose visible documents are limited by organization, devices and the grants of a token. */
export type Reader = Principal;

/** Sees every document: svc itself, when it keeps documents up to date. */
export const unlimited: Reader = { kind: 'system', id: 'knowledge', role: 'system', grants: ['*'] };

/** Areas that the documents of other plugins quote: reports show alerts, figures, lines and spans. */
const quoted = [
  'alert',
  'changes',
  'device',
  'investigate',
  'logs',
  'metricsdb',
  'topology',
  'traces',
] as const;

/**
 * Returns whether the reader sees documents with observations about devices: people who see all
 * devices do, and of API tokens those that may read each area that such a document quotes.
 */
export const seesObservations = (reader: Reader): boolean =>
  reader.selectors === undefined && quoted.every((area) => mayRead(reader, area));
