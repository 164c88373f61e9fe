import { formatDuration } from 'svc/query';
import { isSvcError, messageOf } from 'svc/sdk';

import { copiedGroups, equivalents, furtherSeries } from '../figures/catalogue.ts';
import type { Asking, Course, PrometheusServer } from '../prometheus/server.ts';
import type { History, Written } from './history.ts';

export interface HistoryParts extends Asking {
  readonly server: PrometheusServer;
  /** Instances of the hosts whose figures are copied. */
  readonly instances: readonly string[];
  /** Further selectors of the store. */
  readonly copied: readonly string[];
  readonly write: (courses: readonly Course[]) => Promise<Written>;
  readonly save: (history: History) => Promise<void>;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsed: () => number;
}

const minute = 60_000;
/** Farthest apart that samples can be without gaps between them in a query. */
const maxStep = 4 * minute;
/** Samples of one history; a shorter one is copied where this is not enough. */
const maxSamples = 10_000_000;
const pointsAtOnce = 100_000;
/** Servers refuse 11,000 points of a series in one answer. */
const maxSteps = 10_000;
const fewestSteps = 5;
const instancesAtOnce = 100;
/** Time after which the figures of now are wanted more. */
const deadlineMs = 10 * minute;

/** Figure whose course is asked for: under its own name, or under that of what it is equivalent to. */
interface Question {
  readonly query: string;
  readonly metric?: string;
}

/**
 * Copies the history of a store, oldest first: a sample older than its series already has is
 * refused. Returns how far it came; a server that fails leaves what came before.
 */
export async function copyHistory(parts: HistoryParts, wanted: History): Promise<History> {
  const { save, elapsed, signal } = parts;
  const began = elapsed();
  let history = wanted;
  const incomplete = (why: string): History => ({ ...history, state: 'incomplete', detail: why });
  try {
    const { questions, series, most } = await countedQuestions(parts);
    const plan = planned(history, series);
    history = plan.history;
    const { step } = plan;
    let steps = Math.min(maxSteps, Math.max(fewestSteps, Math.floor(pointsAtOnce / most)));
    let refused = 0;
    while (history.through < history.to) {
      if (elapsed() - began > deadlineMs) {
        return incomplete(`it took longer than ${formatDuration(deadlineMs)}`);
      }
      const end = Math.min(history.to, history.through + steps * step);
      try {
        const written = await copyWindow(parts, questions, { start: history.through, end, step });
        refused += written.refused;
        history = { ...history, through: end, samples: history.samples + written.accepted };
      } catch (error) {
        signal?.throwIfAborted();
        if (steps === fewestSteps) {
          throw error;
        }
        // It may have been too much for one answer.
        steps = Math.max(fewestSteps, Math.floor(steps / 4));
        continue;
      }
      await save(history);
    }
    return {
      ...history,
      state: 'done',
      ...(refused > 0 && {
        detail: `${refused} samples were refused, most likely because svc has newer ones of the same series`,
      }),
    };
  } catch (error) {
    signal?.throwIfAborted();
    return incomplete(messageOf(error));
  }
}

/** The questions that the server answers, with the series of all and of the largest one. */
async function countedQuestions(parts: HistoryParts): Promise<{
  readonly questions: readonly Question[];
  readonly series: number;
  readonly most: number;
}> {
  const { server, instances, copied } = parts;
  const groups = copiedGroups.flatMap(({ selectorOf }) =>
    Array.from({ length: Math.ceil(instances.length / instancesAtOnce) }, (_, at) => ({
      query: selectorOf(instances.slice(at * instancesAtOnce, (at + 1) * instancesAtOnce)),
    })),
  );
  const all: readonly Question[] = [
    ...groups,
    ...equivalents.map(({ metric, expression }) => ({ metric, query: expression })),
    ...[...furtherSeries, ...copied].map((query) => ({ query })),
  ];
  const questions: Question[] = [];
  let [series, most] = [0, 1];
  for (const question of all) {
    const count = await unlessRefused(async () => {
      const [found] = await server.now(`count(${question.query})`, parts);
      return found?.value ?? 0;
    });
    if (count !== undefined && count > 0) {
      questions.push(question);
      series += count;
      most = Math.max(most, count);
    }
  }
  return { questions, series, most };
}

/** Chooses how far apart samples are, and shortens a history that would have too many. */
function planned(
  history: History,
  series: number,
): { readonly history: History; readonly step: number } {
  const { through, to } = history;
  const room = Math.max(1, Math.floor(maxSamples / Math.max(1, series)));
  const step = Math.min(maxStep, Math.max(1, Math.ceil((to - through) / room / minute)) * minute);
  const begin = Math.max(through, to - room * step);
  return begin === through
    ? { history, step }
    : {
        history: {
          ...history,
          from: begin,
          through: begin,
          detail: `only the last ${formatDuration(Math.round((to - begin) / minute) * minute)}: ${series} series have more than ${maxSamples / 1_000_000} million samples before that`,
        },
        step,
      };
}

/** Copies one window of every question. */
async function copyWindow(
  parts: HistoryParts,
  questions: readonly Question[],
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
): Promise<Written> {
  let [accepted, refused] = [0, 0];
  for (const { query, metric } of questions) {
    // The first sample of a window is the last one of the window before.
    const found = await parts.server.range(query, { start: start + step, end, step }, parts);
    const written = await parts.write(
      metric === undefined ? found : found.map((course) => named(course, metric)),
    );
    accepted += written.accepted;
    refused += written.refused;
  }
  return { accepted, refused };
}

const named = ({ labels, points }: Course, metric: string): Course => ({
  labels: { ...labels, __name__: metric },
  points,
});

/** Returns nothing where the server refuses one query, which says nothing of the others. */
async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isSvcError(error) && error.reason === 'connected-stores.refused') {
      return undefined;
    }
    throw error;
  }
}
