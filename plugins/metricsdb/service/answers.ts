import type {
  CheckedQuery,
  InstantAnswer,
  LabelRecord,
  MatrixAnswer,
  Notes,
} from 'svc/contracts/metricsdb';
import {
  type Budget,
  type DeviceNameTable,
  labelsRecord,
  queryError,
  type QueryRunner,
} from 'svc/query';
import { type ErrorCode, isSvcError, type MessageCode, messageOf } from 'svc/sdk';

import { assertPoints, demandRangeQuery } from '../prometheus/question.ts';
import { enforced, matcherSets } from '../prometheus/series-selector.ts';
import {
  groupingLabelsOf,
  instant,
  parse,
  print,
  range,
  selectorsOf,
  valueTypeOf,
  type VectorSelector,
} from '../promql/index.ts';
import type { StoreLifecycle } from '../store/lifecycle.ts';
import type { MetricsStore } from '../store/store.ts';
import type { BatchQuestion, QueryLimits, ServiceQuestion } from '../thread/contract.ts';
import { instantAnswerOf, rangeAnswerOf } from './matrix.ts';

/** An error has to be taken apart to cross threads inside an answer. */
export type BatchAnswer =
  | InstantAnswer
  | {
      readonly failed: ErrorCode;
      readonly message: string;
      readonly reason: MessageCode | undefined;
    };
export type ServiceAnswer = InstantAnswer | (MatrixAnswer & Notes) | readonly LabelRecord[];

interface AnswerParts {
  readonly store: StoreLifecycle;
  readonly runner: QueryRunner<QueryLimits>;
  readonly names: DeviceNameTable;
}

/** Answers another plugin: no text, but labels and arrays of numbers. */
export async function serviceAnswer(
  { store, runner, names }: AnswerParts,
  question: ServiceQuestion,
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  assertAnswerable(question, runner);
  const { timeoutMs, maxSamples, asker } = question.options;
  return await store.use((open) =>
    runner.run({ signal, asker, timeoutMs, maxSamples }, (budget) =>
      answered(open, question, { runner, names }, budget),
    ),
  );
}

/** A batch has one place in the line, and its questions are answered one after another. */
export function batchAnswers(
  { store, runner, names }: AnswerParts,
  { queries, time, options }: BatchQuestion,
  signal: AbortSignal,
): Promise<readonly BatchAnswer[]> {
  const asking = {
    signal,
    asker: options.asker,
    timeoutMs: options.timeoutMs,
    maxSamples: options.maxSamples,
  };
  return store.use((open) =>
    runner.run(asking, async (whole, another) => {
      const answers: BatchAnswer[] = [];
      for (const query of queries) {
        await whole.breathe();
        answers.push(
          (await answered(
            open,
            { kind: 'instant', query, time, options },
            { runner, names },
            another(),
          ).catch(failureOf)) as BatchAnswer,
        );
      }
      return answers;
    }),
  );
}

const failureOf = (error: unknown): BatchAnswer => ({
  failed: isSvcError(error) ? error.code : 'internal',
  message: messageOf(error),
  reason: isSvcError(error) ? error.reason : undefined,
});

async function answered(
  store: MetricsStore,
  question: ServiceQuestion,
  { runner: { limits }, names }: Omit<AnswerParts, 'store'>,
  budget: Budget,
): Promise<ServiceAnswer> {
  const { lookbackMs = limits.lookbackMs, enforce } = question.options;
  const also = enforced(enforce);
  const settled = {
    lookbackMs,
    delayedNameRemoval: limits.delayedNameRemoval,
    enforce: also,
    names,
  };
  switch (question.kind) {
    case 'instant':
      return instantAnswerOf(
        await instant(
          store.source(),
          { ...settled, query: question.query, time: question.time },
          budget,
        ),
      );
    case 'range': {
      const { query, start, end, step } = question;
      return rangeAnswerOf(
        await range(store.source(), { ...settled, query, start, end, step }, budget),
      );
    }
    case 'series':
      return (
        await store.series(
          matcherSets(question.matchers, also).flatMap((matchers) => names.stored(matchers)),
          { mint: question.start, maxt: question.end },
          budget,
        )
      ).map(labelsRecord);
  }
}

/** The same for whichever driver answers. */
export function assertAnswerable(
  question: ServiceQuestion,
  { limits }: Pick<QueryRunner<QueryLimits>, 'limits'>,
): void {
  if (question.kind === 'range') {
    if (!(question.step > 0) || question.end < question.start) {
      throw queryError(
        'bad_data',
        'a range needs a step above zero and an end that is not before its start',
      );
    }
    assertPoints(question, limits);
    demandRangeQuery(question.query);
  } else if (
    question.kind === 'series' &&
    question.matchers.length === 0 &&
    (question.options.enforce ?? []).length === 0
  ) {
    throw queryError('bad_data', 'no match[] parameter provided');
  }
}

/** Checks a query; throws what is wrong with the text, from `line:col` on. */
export function checkQuery(query: string): CheckedQuery {
  const expr = parse(query);
  const grouping = groupingLabelsOf(expr);
  const metrics = [...new Set(selectorsOf(expr).flatMap(metricNamesOf))];
  return {
    type: valueTypeOf(expr),
    printed: print(expr),
    metrics,
    ...(grouping !== undefined && { grouping }),
  };
}

/** Returns the metric names of a selector, including those of a pattern that is a list of names. */
function metricNamesOf({ matchers }: VectorSelector): readonly string[] {
  return matchers
    .filter(({ name }) => name === '__name__')
    .flatMap(({ op, value }) =>
      op === '='
        ? [value]
        : op === '=~'
          ? value.split('|').filter((name) => /^[A-Za-z_:][\w:]*$/.test(name))
          : [],
    );
}
