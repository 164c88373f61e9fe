import type { AnswerFrame } from '../instance/answer-rows.ts';
import type { Instance, Row } from '../instance/instance.ts';
import type { Asked } from '../queries/back-end.ts';
import { samplesOf } from '../queries/sample.ts';
import { mayAsk, TemplateAnswers } from '../template/answers.ts';
import type { TemplateQuery } from '../template/functions.ts';
import type { RenderAnnotations } from '../template/rendering.ts';
import { snapshotOf } from './findings.ts';

export interface AnnotationParts {
  readonly frame: AnswerFrame;
  readonly slot: number;
  readonly instances: ReadonlyMap<string, Instance> | undefined;
  readonly render: RenderAnnotations;
  readonly ask: (query: string) => Promise<Asked>;
}

/** Rows whose annotations are rendered beforehand: any of them may come to stand for its incident. */
const maxRendered = 20;

/** Asks the store what annotations ask, before they are rendered where nothing may wait; only when an incident may be new or another. */
export async function askForAnnotations(
  rows: readonly ReadonlyMap<string, Row>[],
  parts: AnnotationParts,
): Promise<TemplateQuery | undefined> {
  const { frame, slot, instances, render, ask } = parts;
  const { rule, plan } = frame;
  const found = new Map(rows.toReversed().flatMap((of) => [...of]));
  const isSame =
    [...found.keys()].every((key) => instances?.get(key)?.phase === 'firing') &&
    found.size === (instances?.size ?? 0);
  if (isSame || !mayAsk(rule.annotations)) {
    return undefined;
  }
  const threshold = plan.legs.find((leg) => leg.threshold !== undefined)?.threshold ?? null;
  const answers = new TemplateAnswers();
  for (const row of [...found.values()].slice(0, maxRendered)) {
    const value = Number.isFinite(row.value) ? row.value : null;
    await answers.rendered(
      (query) =>
        render(rule, snapshotOf(rule, { ...row, value, threshold, eta: row.eta, slot }), query),
      async (expr) => {
        const { answer } = await ask(expr);
        if (answer instanceof Error) {
          throw answer;
        }
        return samplesOf(answer);
      },
    );
  }
  return answers.query;
}
