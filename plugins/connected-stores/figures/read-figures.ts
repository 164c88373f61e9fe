import { isSvcError } from 'svc/sdk';

import type { Asking, PrometheusServer, Sample } from '../prometheus/server.ts';
import {
  copiedGroups,
  equivalents,
  everyEquivalent,
  figureOf,
  furtherSeries,
} from './catalogue.ts';

/** Series of one answer for which a query asks at most; more take too long to read in one go. */
const seriesAtOnce = 4_000;
const mostInstances = 100;
const fewInstances = 10;
/** Questions that a server is asked at the same time. */
const width = 4;

export interface FigureQuestion extends Asking {
  readonly server: PrometheusServer;
  /** Instances of the hosts whose figures are wanted. */
  readonly instances: readonly string[];
  /** Further selectors of the store. */
  readonly copied: readonly string[];
  readonly take: (samples: readonly Sample[]) => Promise<void>;
}

/** Reads the figures of hosts: what they measure, and what svc calculates from it. */
export async function readFigures(question: FigureQuestion): Promise<void> {
  const { server, take, copied } = question;
  const parts = [
    ...copiedGroups.map(
      ({ selectorOf }) =>
        () =>
          inParts(question, selectorOf),
    ),
    () => calculated(question),
    ...[...furtherSeries, ...copied].map(
      (query) => async () => take(await server.now(query, question)),
    ),
  ];
  const lane = async (): Promise<void> => {
    for (let next = parts.shift(); next !== undefined; next = parts.shift()) {
      await next();
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** A few hosts first: how many series each has tells how many are asked for together. */
async function inParts(
  { server, instances, take, ...asking }: FigureQuestion,
  selectorOf: (instances: readonly string[]) => string,
): Promise<void> {
  let size = fewInstances;
  for (let at = 0; at < instances.length;) {
    const part = instances.slice(at, at + size);
    const found = await server.now(selectorOf(part), asking);
    await take(found);
    at += part.length;
    const each = Math.max(1, found.length / part.length);
    size = Math.max(1, Math.min(mostInstances, Math.floor(seriesAtOnce / each)));
  }
}

/** Reads the equivalents; a figure that a server cannot calculate, such as for series that it has twice, takes no other with it. */
async function calculated({ server, take, ...asking }: FigureQuestion): Promise<void> {
  const all = await server.now(everyEquivalent, asking).catch((error: unknown) => {
    if (isRefusal(error)) {
      return undefined;
    }
    throw error;
  });
  if (all !== undefined) {
    await take(all.map(({ labels, value }) => ({ labels: figureOf(labels), value })));
    return;
  }
  for (const { metric, expression } of equivalents) {
    const found = await server.now(expression, asking).catch((error: unknown) => {
      if (isRefusal(error)) {
        return [];
      }
      throw error;
    });
    await take(
      found.map(({ labels, value }) => ({ labels: { ...labels, __name__: metric }, value })),
    );
  }
}

const isRefusal = (error: unknown): boolean =>
  isSvcError(error) && error.reason === 'connected-stores.refused';
