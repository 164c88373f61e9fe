import { type Build, timestamp } from 'svc/sdk';

import type { HeadCardinality, MetricsStats } from '../store/figures.ts';
import type { PageRequest, StatusPage } from './driver.ts';
import type { MetricsSettings } from './settings.ts';

/** Supported edition of the Prometheus API. Clients choose their queries by it. */
const apiVersion = '3.0.0';

export interface PageParts {
  readonly settings: MetricsSettings;
  readonly build: Build;
  readonly startedAt: number;
}

/**
 * Status pages about this service, whichever driver keeps its samples: those of another server
 * would reveal its folders and flags.
 */
export function ownPage(
  page: Exclude<StatusPage, 'tsdb'>,
  { settings, build, startedAt }: PageParts,
): string {
  return JSON.stringify({ status: 'success', data: dataOf(page) });

  function dataOf(name: typeof page): object {
    const { query } = settings.thread('embedded');
    switch (name) {
      case 'buildinfo':
        return {
          version: apiVersion,
          revision: build.version,
          branch: 'svc',
          buildUser: '',
          buildDate: '',
          goVersion: '',
        };
      case 'flags':
        return {
          'query.lookback-delta': `${query.lookbackMs / 1000}s`,
          'query.max-concurrency': String(query.atOnce),
          'query.max-samples': String(query.maxSamples),
          'query.timeout': `${query.timeoutMs / 1000}s`,
          'storage.tsdb.retention.time': settings.retention,
        };
      case 'runtimeinfo':
        return {
          startTime: timestamp(startedAt),
          reloadConfigSuccess: true,
          lastConfigTime: timestamp(startedAt),
          storageRetention: settings.retention,
        };
    }
  }
}

/** The page `status/tsdb` as Prometheus has it, with who sends the series as a field of our own. */
export function tsdbPage(
  head: HeadCardinality,
  { blocks, oldest, newest, seriesBounds }: MetricsStats,
  { senders }: PageRequest,
): string {
  const data = {
    headStats: {
      numSeries: head.series,
      numLabelPairs: head.labelPairs,
      chunkCount: blocks,
      minTime: finite(oldest),
      maxTime: finite(newest),
    },
    seriesCountByMetricName: head.seriesByMetric,
    labelValueCountByLabelName: head.valuesByLabel,
    memoryInBytesByLabelName: head.bytesByLabel,
    seriesCountByLabelValuePair: head.seriesByPair,
    ...(senders && {
      seriesCountBySender: head.senders.map(({ sender, series }) => ({
        name: sender,
        value: series,
      })),
      seriesLimits: seriesBounds,
    }),
  };
  return JSON.stringify({ status: 'success', data });
}

const finite = (time: number): number => (Number.isFinite(time) ? time : 0);
