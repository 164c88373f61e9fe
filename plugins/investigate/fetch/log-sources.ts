import type { Answer, EvidenceSource, Question } from 'svc/contracts/investigate';
import type { LogQueries } from 'svc/contracts/logs';
import { redactText } from 'svc/probe';
import type { SeenDevices } from 'svc/query';
import type { Handle } from 'svc/sdk';

import { errors } from './errors.ts';
import { figuresOf, gridOf, stepOf } from './metrics-source.ts';

/** Log templates, with their number of lines in each step. */
export interface Templates {
  readonly step_ms: number;
  /** Time of the first line that was read: earlier ones were skipped if there were too many. */
  readonly first: number;
  readonly lines: number;
  readonly templates: readonly {
    readonly pattern: string;
    readonly count: number;
    readonly example: string;
    readonly steps: readonly (readonly [number, number])[];
  }[];
}

export interface Lines {
  readonly lines: readonly {
    readonly at: number;
    readonly line: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

export const templateStepMs = 300_000;
const mostTemplates = 300;
const mostNames = 2_000;
const mostLines = 300;
const longest = 300;

function storeOf(logs: Handle<LogQueries>): LogQueries {
  if (!logs.available) {
    throw errors.logs_away();
  }
  return logs.get();
}

/** Templates of the lines that a LogQL query finds, counted by time. */
export const templateSource = (logs: Handle<LogQueries>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question, signal: AbortSignal): Promise<Answer> {
    const { patterns, lines, partial } = await storeOf(logs).patterns(
      query,
      { start: window.from, end: window.to },
      { step: templateStepMs, timeoutMs: 6_000, signal, ...(seen && { enforce: seen.enforce }) },
    );
    let redactions = 0;
    const safe = (text: string): string => {
      const hidden = redactText(text).slice(0, longest);
      redactions += hidden === text.slice(0, longest) ? 0 : 1;
      return hidden;
    };
    const kept = patterns.slice(0, mostTemplates);
    const value: Templates = {
      step_ms: templateStepMs,
      lines,
      first: partial
        ? patterns.reduce((least, { first }) => Math.min(least, first), window.to)
        : window.from,
      templates: kept.map(({ pattern, count, example, steps = [] }) => ({
        pattern: safe(pattern),
        count,
        example: safe(example),
        steps,
      })),
    };
    const digest = {
      lines,
      templates: patterns.length,
      most: value.templates
        .slice(0, 3)
        .map(({ pattern, count }) => ({ template: pattern.slice(0, 120), count })),
    };
    return {
      value,
      digest,
      trust: 'untrusted',
      truncated: partial || patterns.length > mostTemplates,
      redactions,
    };
  },
});

/** Counts of lines over time, as a LogQL query computes them. */
export const countSource = (logs: Handle<LogQueries>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question, signal: AbortSignal): Promise<Answer> {
    const step = stepOf(window);
    const to = Math.floor(window.to);
    const from = to - Math.floor((to - window.from) / step) * step;
    const found = await storeOf(logs).range(
      query,
      { start: from, end: to, step },
      { timeoutMs: 6_000, signal, ...(seen && { enforce: seen.enforce }) },
    );
    const value = await gridOf(found, { from, to, step });
    return {
      value,
      digest: figuresOf(value, found.labels.length),
      trust: 'trusted',
      truncated: found.labels.length > value.series.length,
    };
  },
});

/** Names that streams have, by label, of the labels that were asked for. */
export const streamSource = (logs: Handle<LogQueries>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question): Promise<Answer> {
    const store = storeOf(logs);
    const span = { start: window.from, end: window.to };
    const options = seen ? { enforce: seen.enforce } : {};
    const there = new Set(await store.labels(span, options));
    const labels = query.split(', ').filter((label) => there.has(label));
    const values = await Promise.all(
      labels.map(async (label) => [
        label,
        (await store.labelValues(label, span, options)).toSorted().slice(0, mostNames),
      ]),
    );
    const value = Object.fromEntries(values) as Readonly<Record<string, readonly string[]>>;
    const streams = Object.values(value).reduce((sum, some) => sum + some.length, 0);
    return { value, digest: { series: streams, labels }, trust: 'trusted' };
  },
});

/** The newest lines that a LogQL query finds. */
export const lineSource = (logs: Handle<LogQueries>, seen: SeenDevices): EvidenceSource => ({
  async ask({ query, window }: Question, signal: AbortSignal): Promise<Answer> {
    const found = await storeOf(logs).lines(
      query,
      { start: window.from, end: window.to },
      {
        limit: mostLines,
        direction: 'backward',
        timeoutMs: 6_000,
        signal,
        ...(seen && { enforce: seen.enforce }),
      },
    );
    let redactions = 0;
    const lines = found.lines.map(({ at, line, labels }) => {
      const hidden = redactText(line.slice(0, longest));
      redactions += hidden === line.slice(0, longest) ? 0 : 1;
      return { at: at.ms, line: hidden, labels: placeOf(labels) };
    });
    // Lines of one moment come in whatever order their streams are kept in.
    const value: Lines = {
      lines: lines
        .map((one) => ({ one, key: canonical(one) }))
        .toSorted(byTime)
        .map(({ one }) => one),
    };
    return {
      value,
      digest: { lines: lines.length },
      trust: 'untrusted',
      truncated: found.partial || lines.length === mostLines,
      redactions,
    };
  },
});

type Line = Lines['lines'][number];

const canonical = ({ line, labels }: Line): string =>
  JSON.stringify([line, labels['device_id'], labels['service_name']]);

const byTime = (
  a: { readonly one: Line; readonly key: string },
  b: { readonly one: Line; readonly key: string },
): number => b.one.at - a.one.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

const placeOf = ({
  device_id: device,
  service_name: service,
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  ...(device !== undefined && { device_id: device }),
  ...(service !== undefined && { service_name: service }),
});
