import { LogQueries } from 'svc/contracts/logs';
import { MetricsQueries } from 'svc/contracts/metricsdb';
import { TraceQueries } from 'svc/contracts/traces';
import { type AskingOf, askingOf, DeviceScopes } from 'svc/query';
import { type Handle, isSvcError, type PluginContext, type Principal } from 'svc/sdk';

import type { Dialect } from './patterns.ts';

const maxNames = 40;
const lookMs = 3_000;

/** Knowledge of svc itself about queries: whether one parses, and which metrics exist. */
export class Engines {
  readonly #checks: Readonly<Record<Dialect, Handle<{ check(query: string): Promise<unknown> }>>>;
  readonly #metrics: Handle<MetricsQueries>;
  readonly #asking: AskingOf;
  readonly #now: () => number;

  constructor({ services, clock }: Pick<PluginContext, 'services' | 'clock'>) {
    this.#metrics = services.maybe(MetricsQueries);
    this.#checks = {
      promql: this.#metrics,
      logql: services.maybe(LogQueries),
      traceql: services.maybe(TraceQueries),
    };
    this.#asking = askingOf(services.maybe(DeviceScopes));
    this.#now = () => clock.now();
  }

  /** Why the query cannot be read; undefined when it can. */
  async complaint(dialect: Dialect, query: string): Promise<string | undefined> {
    const engine = this.#checks[dialect];
    if (!engine.available) {
      return `not checked, since the store that reads ${dialect} is not here; enable its plugin`;
    }
    try {
      await engine.get().check(query);
      return undefined;
    } catch (error) {
      if (isSvcError(error)) {
        return error.message;
      }
      throw error;
    }
  }

  /**
   * Returns names of visible metrics that contain a word of the question; none if they cannot be
   * determined soon.
   */
  async metricNames(
    principal: Principal,
    prompt: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const words = [...new Set(prompt.toLowerCase().match(/[a-z][a-z0-9_]{2,}/g))]
      .filter((word) => !common.has(word))
      .slice(0, 12);
    if (words.length === 0 || !this.#metrics.available) {
      return [];
    }
    const query = `group by (__name__) ({__name__=~".*(?:${words.join('|')}).*"})`;
    try {
      const options = {
        timeoutMs: lookMs,
        maxSamples: 200_000,
        signal,
        ...(await this.#asking(principal)),
      };
      const answer = await this.#metrics.get().instant(query, this.#now(), options);
      const names =
        answer.type === 'vector' ? answer.labels.map((labels) => labels['__name__']!) : [];
      return names
        .toSorted(
          (a, b) => said(b, words) - said(a, words) || a.length - b.length || (a < b ? -1 : 1),
        )
        .slice(0, maxNames);
    } catch (error) {
      if (isSvcError(error)) {
        return [];
      }
      throw error;
    }
  }
}

/** Counts the words that occur in a name. */
const said = (name: string, words: readonly string[]): number =>
  words.filter((word) => name.includes(word)).length;

const common: ReadonlySet<string> = new Set(
  'the and for with from show what which that last past over per all how many much are was were has have each every'.split(
    ' ',
  ),
);
