import type { Line, LinePattern, LinesAnswer, PatternsAnswer } from 'svc/contracts/logs';
import type { Enforced, InstantAnswer, MatrixAnswer, Notes } from 'svc/contracts/metricsdb';
import { type DeviceNameTable, type Labels, labelsRecord, matcher, type Matcher } from 'svc/query';

import { instant, lines, range, tailer } from '../logql/index.ts';
import { findTemplates } from '../patterns/find-templates.ts';
import { type Template, TemplateTree } from '../patterns/template-tree.ts';
import type { Nanos } from '../store/lines/nanos.ts';
import type { LogStore } from '../store/store.ts';
import { frameOf, type Tails } from '../tail/tails.ts';
import type { AskInput, NamesInput, OpenedTail, TailInput } from '../thread/contract.ts';
import type { LogQueryRunner } from '../thread/query-runner.ts';

export interface ServiceQueriesParts {
  readonly store: LogStore;
  readonly queries: LogQueryRunner;
  readonly tails: Tails;
  readonly now: () => number;
  readonly deviceNames: DeviceNameTable;
}

interface Call {
  readonly signal: AbortSignal;
}

/** The queries of other plugins, in milliseconds and plain records. */
export class ServiceQueries {
  readonly #store: LogStore;
  readonly #queries: LogQueryRunner;
  readonly #tails: Tails;
  readonly #now: () => number;
  readonly #deviceNames: DeviceNameTable;

  constructor({ store, queries, tails, now, deviceNames }: ServiceQueriesParts) {
    this.#deviceNames = deviceNames;
    this.#store = store;
    this.#queries = queries;
    this.#tails = tails;
    this.#now = now;
  }

  lines(input: AskInput, { signal }: Call): Promise<LinesAnswer> {
    return this.#queries.run({ ...input, signal }, async ({ source, budget, warnings }) => {
      const { query, limit, direction, start, end, enforce } = input;
      const asked = {
        query,
        start: nanos(start),
        end: nanos(end),
        enforce: matchersOf(enforce),
        now: this.#now,
        ...(limit !== undefined && { limit }),
        ...(direction && { direction }),
      };
      const found = await lines(source, asked, budget);
      return { type: 'streams', lines: found.lines.map(lineOf), partial: found.partial, warnings };
    });
  }

  instant(input: AskInput, { signal }: Call): Promise<InstantAnswer> {
    return this.#queries.run({ ...input, signal }, async ({ source, budget, warnings }) => {
      const { query, end: time, enforce } = input;
      const result = await instant(
        source,
        { query, time, enforce: matchersOf(enforce), now: this.#now },
        budget,
      );
      if (result.type === 'scalar') {
        return { ...result, warnings };
      }
      const { samples } = result;
      return {
        type: 'vector',
        labels: samples.map(({ labels }) => labelsRecord(labels)),
        times: new Float64Array(samples.length).fill(time),
        values: Float64Array.from(samples, ({ value }) => value),
        warnings,
      };
    });
  }

  range(input: AskInput, { signal }: Call): Promise<MatrixAnswer & Notes> {
    return this.#queries.run({ ...input, signal }, async ({ source, budget, warnings }) => {
      const { query, start, end, step = 0, enforce } = input;
      const { series } = await range(
        source,
        { query, start, end, step, enforce: matchersOf(enforce), now: this.#now },
        budget,
      );
      return {
        type: 'matrix',
        labels: series.map(({ labels }) => labelsRecord(labels)),
        times: series.map(({ times }) => times),
        values: series.map(({ values }) => values),
        warnings,
      };
    });
  }

  patterns(
    { query, start, end, step, enforce, ...limits }: AskInput,
    { signal }: Call,
  ): Promise<PatternsAnswer> {
    return this.#queries.run({ ...limits, signal }, async ({ source, budget, warnings }) => {
      const asked = {
        query,
        start: nanos(start),
        end: nanos(end),
        enforce: matchersOf(enforce),
        now: this.#now,
        stepMs: step ?? Infinity,
      };
      const { templates, lines: read, partial } = await findTemplates(source, asked, budget);
      return {
        patterns: templates.map((template) => patternOf(template, step !== undefined)),
        lines: read,
        partial,
        warnings,
      };
    });
  }

  names(
    { label, query, start, end, asker, enforce }: NamesInput,
    { signal }: Call,
  ): Promise<string[]> {
    const { directory } = this.#store;
    const matchers = this.#deviceNames.foreign(
      query === undefined
        ? matchersOf(enforce)
        : tailer({ query, enforce: matchersOf(enforce), now: this.#now }).matchers,
    );
    const window = { start: nanos(start), end: nanos(end) };
    return this.#queries.run({ asker, signal }, ({ budget }) =>
      label === undefined
        ? directory.labels(matchers, window, budget)
        : directory.values(label, matchers, window, budget),
    );
  }

  /** Opens a tail with the newest lines, and everything after them. */
  openTail(
    { query, delayMs, limit, start, asker, enforce }: TailInput,
    { signal }: Call,
  ): Promise<OpenedTail> {
    return this.#queries.run({ asker, signal }, async ({ source, budget }) => {
      const shared = { query, enforce: matchersOf(enforce) };
      // Both at once: the source determines what it will read before it waits for anything, and
      // from then on the tail listens.
      const earlier = lines(
        source,
        { ...shared, start: nanos(start), end: nanos(this.#now()), limit, now: this.#now },
        budget,
      );
      const id = this.#tails.open({ ...shared, delayMs });
      try {
        const found = await earlier;
        return {
          id,
          frame: found.lines.length === 0 ? undefined : frameOf(found.lines.toReversed(), []),
        };
      } catch (error) {
        this.#tails.close(id);
        throw error;
      }
    });
  }
}

export const matchersOf = (enforce: readonly Enforced[] | undefined): Matcher[] =>
  (enforce ?? []).map(({ name, op, value }) => matcher(name, op, value));

/** Milliseconds may have a fraction. */
const nanos = (ms: number): Nanos => ({
  ms: Math.floor(ms),
  ns: Math.round((ms - Math.floor(ms)) * 1e6) % 1_000_000,
});

const patternOf = (
  { pattern, count, example, first, last, steps }: Template,
  stepped: boolean,
): LinePattern => ({
  pattern,
  count,
  example,
  first,
  last,
  ...(stepped && { steps: [...steps].sort(([a], [b]) => a - b) }),
});

/** The same for lines that another server has found. */
export function templatesOf(found: readonly Line[], step?: number): readonly LinePattern[] {
  const tree = new TemplateTree({ stepMs: step ?? Infinity });
  found.forEach(({ line, at }) => tree.add(line, at.ms));
  return tree.templates().map((template) => patternOf(template, step !== undefined));
}

const lineOf = ({
  labels,
  ms,
  ns,
  line,
}: {
  readonly labels: Labels;
  readonly ms: number;
  readonly ns: number;
  readonly line: string;
}): Line => ({
  labels: labelsRecord(labels),
  at: { ms, ns },
  line,
});
