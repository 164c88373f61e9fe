import type { Findings } from 'svc/rca';
import { type Static, Type } from 'typebox';

import type { ReportBody } from './report/build-report.ts';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const ReplayItem = Type.Object({
  id: Type.Integer(),
  engine_before: orNull(Type.String()),
  engine_now: Type.String(),
  same: Type.Boolean({
    description:
      'Whether the verdict, the cause, the category and the order of the top three hypotheses are the same',
  }),
  differences: Type.Array(
    Type.Object({ field: Type.String(), before: Type.Unknown(), now: Type.Unknown() }),
  ),
  text: Type.String(),
});

/** Compares the report with what another version of the engine makes of the same evidence. */
export function replayOf(
  run: {
    readonly id: number;
    readonly engine_version: string | null;
    readonly verdict: string | null;
  },
  before: Pick<ReportBody, 'root_cause' | 'hypotheses' | 'confidence' | 'propagation'>,
  now: Findings,
): Static<typeof ReplayItem> {
  const pairs: readonly (readonly [field: string, before: unknown, now: unknown])[] = [
    ['verdict', run.verdict, now.verdict],
    ['node', before.root_cause?.node.id ?? null, now.root_cause?.node ?? null],
    ['category', before.root_cause?.category ?? null, now.root_cause?.category ?? null],
    [
      'indicator',
      before.root_cause?.indicator?.name ?? null,
      now.root_cause?.indicator?.name ?? null,
    ],
    [
      'first three',
      before.hypotheses.slice(0, 3).map(({ node }) => node.id),
      now.hypotheses.slice(0, 3).map(({ node }) => node),
    ],
    ['confidence', rounded(before.confidence?.raw), rounded(now.confidence.value)],
    ['path', before.propagation.length, now.propagation.length],
  ];
  const differences = pairs
    .filter(([, was, is]) => JSON.stringify(was) !== JSON.stringify(is))
    .map(([field, was, is]) => ({ field, before: was, now: is }));
  const engines =
    run.engine_version === now.engine_version
      ? `engine ${now.engine_version}`
      : `engine ${run.engine_version ?? 'unknown'}, now ${now.engine_version}`;
  const lines = differences.map(
    ({ field, before: was, now: is }) =>
      `  ${field}: ${JSON.stringify(was)} -> ${JSON.stringify(is)}`,
  );
  return {
    id: run.id,
    engine_before: run.engine_version,
    engine_now: now.engine_version,
    differences,
    same: differences.every(({ field }) => field === 'confidence' || field === 'path'),
    text: [
      `Investigation ${run.id}, ${engines}: ${differences.length === 0 ? 'the same' : `${differences.length} differences`}`,
      ...lines,
      now.summary,
    ].join('\n'),
  };
}

const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(value * 1_000) / 1_000;
