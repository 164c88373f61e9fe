import type { Fact } from './case.ts';
import type { Answered } from './rubric.ts';

/** Result of one case with one model. */
export interface Outcome {
  readonly id: string;
  readonly subject: string;
  readonly passed: boolean;
  /** True if a judge model found what the expressions did not. */
  readonly judged: boolean;
  readonly missing: readonly Fact[];
  readonly wrong: readonly string[];
  readonly answered: Answered;
  /** Parts of its requests that differ from a recording. */
  readonly changed: readonly string[];
}

/** Prices in dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** One column: what a model, or svc without one, made of the cases. */
export interface Column {
  readonly model: string;
  readonly cases: number;
  readonly passed: number;
  readonly by_subject: Readonly<
    Record<string, { readonly cases: number; readonly passed: number }>
  >;
  readonly calls: number;
  readonly turns: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Null without a price. */
  readonly dollars: number | null;
  readonly seconds: number;
  readonly changed: Readonly<Record<string, number>>;
  readonly outcomes: readonly Outcome[];
}

/** Sums up what came of the cases with one model. */
export function columnOf(
  model: string,
  outcomes: readonly Outcome[],
  price: Price | undefined,
): Column {
  const sum = (of: (answered: Answered) => number): number =>
    outcomes.reduce((total, { answered }) => total + of(answered), 0);
  const input = sum(({ inputTokens }) => inputTokens);
  const cached = sum(({ cachedTokens }) => cachedTokens);
  const output = sum(({ outputTokens }) => outputTokens);
  const subjects = [...new Set(outcomes.map(({ subject }) => subject))].toSorted();
  const changed = outcomes.flatMap((outcome) => outcome.changed);
  return {
    model,
    cases: outcomes.length,
    passed: outcomes.filter(({ passed }) => passed).length,
    by_subject: Object.fromEntries(
      subjects.map((subject) => {
        const these = outcomes.filter((outcome) => outcome.subject === subject);
        const passed = these.filter((outcome) => outcome.passed).length;
        return [subject, { cases: these.length, passed }];
      }),
    ),
    calls: sum(({ calls }) => calls.length),
    turns: sum(({ turns }) => turns),
    input_tokens: input,
    cached_tokens: cached,
    output_tokens: output,
    dollars:
      price === undefined
        ? null
        : ((input - cached) * price.input + cached * price.cached + output * price.output) / 1e6,
    seconds: sum(({ seconds }) => seconds),
    changed: Object.fromEntries(
      [...new Set(changed)].map((part) => [part, changed.filter((one) => one === part).length]),
    ),
    outcomes,
  };
}

const shownFailures = 40;

/** The table as a person reads it: a row a subject, a column a model. */
export function shownTable(columns: readonly Column[]): readonly string[] {
  const subjects = [
    ...new Set(columns.flatMap(({ by_subject: subject }) => Object.keys(subject))),
  ].toSorted();
  const width = Math.max(14, ...columns.map(({ model }) => model.length + 2));
  const row = (head: string, cell: (column: Column) => string): string =>
    head.padEnd(16) + columns.map((column) => cell(column).padStart(width)).join('');
  const count = (value: number): string => value.toLocaleString('en-US');
  return [
    row('PASSED', ({ model }) => model),
    ...subjects.map((subject) =>
      row(subject, ({ by_subject: by }) => {
        const { passed = 0, cases = 0 } = by[subject] ?? {};
        return `${passed} of ${cases}`;
      }),
    ),
    row('all', ({ passed, cases }) => `${passed} of ${cases}`),
    row('', ({ passed, cases }) => `${((100 * passed) / Math.max(1, cases)).toFixed(1)} %`),
    '',
    row('calls', ({ calls }) => count(calls)),
    row('model turns', ({ turns }) => count(turns)),
    row('input tokens', (column) => count(column.input_tokens)),
    row('  cached', (column) => count(column.cached_tokens)),
    row('output tokens', (column) => count(column.output_tokens)),
    row('dollars', ({ dollars }) => (dollars === null ? '-' : dollars.toFixed(2))),
    row('s per case', ({ seconds, cases }) => (seconds / Math.max(1, cases)).toFixed(1)),
    ...columns.flatMap(failuresOf),
    ...columns.flatMap(changesOf),
  ];
}

function failuresOf({ model, outcomes }: Column): readonly string[] {
  const failed = outcomes.filter(({ passed }) => !passed);
  return model === 'engine' || failed.length === 0
    ? []
    : [
        '',
        `${model} failed:`,
        ...failed
          .slice(0, shownFailures)
          .map(
            ({ id, missing, wrong }) =>
              `  ${id}: ${[...wrong, ...(missing.length > 0 ? [`${missing.length} facts missing`] : [])].join('; ')}`,
          ),
        ...(failed.length > shownFailures ? [`  and ${failed.length - shownFailures} more`] : []),
      ];
}

function changesOf({ model, changed, outcomes }: Column): readonly string[] {
  return Object.keys(changed).length === 0
    ? []
    : [
        '',
        `${model}: requests that differ from the recording, in cases of ${outcomes.length}: ${Object.entries(
          changed,
        )
          .map(([part, cases]) => `${part} ${cases}`)
          .join(', ')}`,
        'The replies are those of the recording; record again to see what the model makes of the change.',
      ];
}
