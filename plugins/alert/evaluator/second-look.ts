import type { Leg, RenderAnnotations } from '../rule.ts';
import type { TemplateQuery } from '../template-functions.ts';
import { askForAnnotations } from './annotation-queries.ts';
import { type AnswerFrame, type AnswerRows, answerRows } from './answer-rows.ts';
import type { Asked } from './back-end.ts';
import type { Instance, Row } from './instance.ts';

export interface SecondLookParts {
  readonly frame: AnswerFrame;
  readonly instances: ReadonlyMap<string, Instance> | undefined;
  /** Keys of those that fire and whose source is not heard. */
  readonly unseen: ReadonlyMap<string, unknown>;
  readonly ask: (leg: Leg, query: string) => Promise<Asked>;
  readonly slot: number;
  readonly render: RenderAnnotations;
}

/** What an evaluation has found once those that fire and are not in its answers have been looked for again. */
export interface SecondLook {
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Keys of which the store does not say whether they are clear or gone. */
  readonly unknown: ReadonlySet<string>;
  /** What annotations ask of the store. */
  readonly query?: TemplateQuery | undefined;
}

/**
 * Not to be in an answer is not always to be clear. A forecast that has come true is worse, and stays. What is not heard of is
 * clear only when its measure is there again: until then its source may simply not be heard yet.
 */
export async function lookAgain(found: readonly ReadonlyMap<string, Row>[], parts: SecondLookParts): Promise<SecondLook> {
  const { frame, instances, unseen, ask } = parts;
  const { legs } = frame.plan;
  const firing = [...(instances?.values() ?? [])].filter(({ phase }) => phase === 'firing').map(({ key }) => key);
  const unknown = new Set<string>();
  const rows = await Promise.all(
    found.map(async (known, at) => {
      const { crossed } = legs[at]!;
      const gone = crossed === undefined ? [] : firing.filter((key) => !known.has(key));
      if (gone.length === 0) {
        return known;
      }
      const answered = rowsOf(await ask(legs[at]!, crossed!), frame);
      const crossedRows = gone.flatMap((key) => (answered?.has(key) === true ? [[key, answered.get(key)!] as const] : []));
      (answered === undefined ? gone : []).forEach((key) => unknown.add(key));
      return crossedRows.length === 0 ? known : new Map([...known, ...crossedRows]);
    }),
  );
  const missing = [...unseen.keys()].filter((key) => !rows.some((of) => of.has(key)));
  if (missing.length > 0) {
    const measures = await Promise.all(legs.map(async (leg) => (leg.measure === undefined ? undefined : rowsOf(await ask(leg, leg.measure), frame))));
    missing.filter((key) => !measures.some((of) => of?.has(key) === true)).forEach((key) => unknown.add(key));
  }
  const query = await askForAnnotations(rows, { ...parts, ask: (expr) => ask(metricsLeg, expr) });
  return { rows, unknown, query };
}

/** Templates ask the metrics store, whatever the rule itself asks. */
const metricsLeg: Leg = { store: 'metrics', query: '', forMs: 0 };

const rowsOf = ({ answer }: Asked, frame: AnswerFrame): AnswerRows['rows'] | undefined =>
  answer instanceof Error ? undefined : answerRows(answer, frame, undefined).rows;
