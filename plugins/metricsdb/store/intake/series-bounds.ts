import { labelValue, type Labels, metricName } from 'svc/query';
import { accountShareOf } from 'svc/store';

import { type Head } from '../head/head.ts';
import { ownSender } from '../head/series-owners.ts';
import { seriesText } from './label-rules.ts';

export interface SeriesLimits {
  readonly maxSeries: number;
  /**
   * Max size of the labels of all series together: their number alone does not bound the memory.
   */
  readonly maxLabelBytes?: number;
  /** Max share of one sender, in percent of what the others leave; 100: unlimited. */
  readonly senderShare?: number;
  /** Max share of one metric of one sender, likewise. */
  readonly metricShare?: number;
}

/** Series, and bytes of labels, below which a share counts only if little is free. */
const smallSender = 1_000;
const smallLabels = 1_048_576;
/** Share of a limit that is little. */
const little = 0.1;

/**
 * Returns why a sender may begin no further series; undefined if it may. A share is one of what the
 * sender has and what is free, together: however many senders take all they can get, some is left
 * for the next one, and all senders of one account leave some for those of others.
 */
export function seriesRefusal(
  { index, owners, labelBytes }: Head,
  owner: number,
  labels: Labels,
  { maxSeries, maxLabelBytes = Infinity, senderShare = 100, metricShare = 100 }: SeriesLimits,
): string | undefined {
  if (index.live >= maxSeries) {
    return `the limit of ${maxSeries} series is reached; ${effect}`;
  }
  if (labelBytes >= maxLabelBytes) {
    return `the labels of all series take ${maxLabelBytes} bytes, which is the limit; ${effect}`;
  }
  const free = maxSeries - index.live;
  const least = free < maxSeries * little ? 0 : smallSender;
  // What svc says of itself is little and known, and alerts about these very limits read it.
  if (owners.sender(owner) === ownSender) {
    return undefined;
  }
  const own = owners.seriesOf(owner);
  if (own >= least && own >= boundOf(free, senderShare)) {
    return `this sender (${owners.sender(owner)}) has ${own} series, its share of ${maxSeries}; ${effect}`;
  }
  const bytes = owners.labelBytesOf(owner);
  const freeBytes = maxLabelBytes - labelBytes;
  const leastBytes = freeBytes < maxLabelBytes * little ? 0 : smallLabels;
  if (bytes >= leastBytes && bytes >= boundOf(freeBytes, senderShare)) {
    return `the labels of the series of this sender (${owners.sender(owner)}) take ${bytes} bytes, its share of ${maxLabelBytes}; ${effect}`;
  }
  const together = owners.accountOf(owner);
  const accountShare = accountShareOf(senderShare);
  if (together.series >= least && together.series >= boundOf(free, accountShare)) {
    return `the senders of ${together.account} have ${together.series} series together, the share of one account of ${maxSeries}; ${effect}`;
  }
  if (
    together.labelBytes >= leastBytes &&
    together.labelBytes >= boundOf(freeBytes, accountShare)
  ) {
    return `the labels of the series of all senders of ${together.account} take ${together.labelBytes} bytes, the share of one account of ${maxLabelBytes}; ${effect}`;
  }
  const metric = labelValue(labels, metricName);
  const bound = boundOf(free, metricShare);
  const slots = index.slotsOf(metric);
  if (slots.length >= least && slots.length >= bound) {
    const ofMetric = owners.ofMetric(owner, metric, slots);
    if (ofMetric >= least && ofMetric >= bound) {
      return `this sender (${owners.sender(owner)}) has ${ofMetric} series of ${seriesText([metricName, metric])}, the share of one metric; ${effect}`;
    }
  }
  return undefined;
}

const effect = 'new series are refused, existing ones are not affected';

/** Limit of series and how much of it is taken. */
export interface SeriesBound {
  readonly limit: 'all' | 'account' | 'sender' | 'metric';
  /** Sender or account that it is about, or the sender with most series. */
  readonly sender: string;
  /** Metric that it is about, or the one with most series. */
  readonly metric: string;
  readonly used: number;
  readonly max: number;
}

/** Senders, and metrics of each, that are looked at. */
const maxNamed = 5;

/** Returns how far the limits of series are reached: that of all, and those of the largest senders and their metrics. */
export function seriesBounds(
  { index, owners }: Head,
  { maxSeries, senderShare = 100, metricShare = 100 }: SeriesLimits,
): SeriesBound[] {
  const free = Math.max(0, maxSeries - index.live);
  const metrics = index.largest(1);
  const holdings = owners.holdings();
  const bounds: SeriesBound[] = [
    {
      limit: 'all',
      sender: holdings[0]?.sender ?? '',
      metric: metrics[0]?.[0] ?? '',
      used: index.live,
      max: maxSeries,
    },
  ];
  if (senderShare < 100) {
    const [account] = owners.accounts();
    if (account !== undefined && account.series >= smallSender) {
      bounds.push({
        limit: 'account',
        sender: account.account,
        metric: metrics[0]?.[0] ?? '',
        used: account.series,
        max: Math.floor(((account.series + free) * accountShareOf(senderShare)) / 100),
      });
    }
  }
  const large = holdings.filter(({ series }) => series >= smallSender).slice(0, maxNamed);
  for (const { sender, series } of large) {
    const owner = owners.number(sender);
    const own = metrics
      .slice(0, maxNamed)
      .map(([metric, slots]) => ({ metric, used: owners.ofMetric(owner, metric, slots) }))
      .sort((a, b) => b.used - a.used);
    if (senderShare < 100) {
      const max = Math.floor(((series + free) * senderShare) / 100);
      bounds.push({ limit: 'sender', sender, metric: own[0]!.metric, used: series, max });
    }
    for (const { metric, used } of own.filter((one) => one.used >= smallSender)) {
      if (metricShare < 100) {
        const max = Math.floor(((used + free) * metricShare) / 100);
        bounds.push({ limit: 'metric', sender, metric, used, max });
      }
    }
  }
  return bounds;
}

/** Returns how much one may hold while this much is free. */
const boundOf = (free: number, share: number): number =>
  share >= 100 ? Infinity : (free * share) / (100 - share);
