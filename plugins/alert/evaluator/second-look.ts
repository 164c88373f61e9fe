import { type AnswerFrame, type AnswerRows, answerRowsInTurns } from '../instance/answer-rows.ts';
import type { Instance, Row } from '../instance/instance.ts';
import { awayAmong, type Heard, heardOf, metricsLeg } from '../instance/sources.ts';
import type { Asked } from '../queries/back-end.ts';
import type { Leg, Plan } from '../rule/rule.ts';
import { ofOneHost } from '../kinds/metric-raw.ts';
import type { TemplateQuery } from '../template/functions.ts';
import type { RenderAnnotations } from '../template/rendering.ts';
import { askForAnnotations } from './annotation-queries.ts';

type Ask = (leg: Leg, query: string) => Promise<Asked>;

export interface SecondLookParts {
  readonly frame: AnswerFrame;
  readonly instances: ReadonlyMap<string, Instance> | undefined;
  readonly ask: Ask;
  /** Query at the time it would be if the clock had not been set back; only present then. */
  readonly askAhead: Ask | undefined;
  readonly slot: number;
  readonly render: RenderAnnotations;
}

/** Result of an evaluation after firing instances missing from its answers were looked up again. */
export interface SecondLook {
  readonly rows: readonly ReadonlyMap<string, Row>[];
  /** Keys for which the store cannot tell whether they are clear or gone. */
  readonly unknown: ReadonlySet<string>;
  /** State of the source of each firing instance that is neither found nor measured. */
  readonly heard: ReadonlyMap<string, Heard>;
  /** Query function for annotations. */
  readonly query?: TemplateQuery | undefined;
}

/**
 * Looks up firing instances that are missing from the answers, since missing does not always mean
 * clear. A forecast that has come true is worse, and stays. An instance without a measure is gone
 * only if its source is still sending.
 */
export async function lookAgain(
  found: readonly ReadonlyMap<string, Row>[],
  parts: SecondLookParts,
): Promise<SecondLook> {
  const { frame, instances, ask } = parts;
  const { legs } = frame.plan;
  const firing = [...(instances?.values() ?? [])].filter(({ phase }) => phase === 'firing');
  const unknown = new Set<string>();
  const present = await Promise.all(
    found.map(async (known, at) =>
      withoutAway(await withoutPast(known, legs[at]!, parts), legs[at]!, parts),
    ),
  );
  const rows = await Promise.all(
    present.map(async (known, at) => {
      const { crossed } = legs[at]!;
      const gone =
        crossed === undefined ? [] : firing.flatMap(({ key }) => (known.has(key) ? [] : [key]));
      if (gone.length === 0) {
        return known;
      }
      const answered = await rowsOf(await ask(legs[at]!, crossed!), frame);
      const crossedRows = gone.flatMap((key) =>
        answered?.has(key) === true ? [[key, answered.get(key)!] as const] : [],
      );
      (answered === undefined ? gone : []).forEach((key) => unknown.add(key));
      return crossedRows.length === 0 ? known : new Map([...known, ...crossedRows]);
    }),
  );
  const missing = firing.filter(({ key }) => !unknown.has(key) && !rows.some((of) => of.has(key)));
  const heard = missing.length === 0 ? none : await unmeasured(missing, parts);
  const query = await askForAnnotations(rows, { ...parts, ask: (expr) => ask(metricsLeg, expr) });
  return { rows, unknown, heard, query };
}

/**
 * Drops answers that a clock which was set back makes stale. It shows what senders sent before;
 * what they have sent since lies ahead of it, as their clocks were not set back. An instance that
 * is measured there (or whose source sends there) and does not breach there breached only in the
 * past. Instances that already fire are not ended by this.
 */
async function withoutPast(
  known: AnswerRows['rows'],
  leg: Leg,
  { frame, instances, askAhead }: Pick<SecondLookParts, 'frame' | 'instances' | 'askAhead'>,
): Promise<AnswerRows['rows']> {
  const begins = beginning(known, instances);
  if (askAhead === undefined || begins.length === 0) {
    return known;
  }
  const [breaching, measured] = await Promise.all(
    [leg.query, leg.measure].map(async (query) =>
      query === undefined ? undefined : rowsOf(await askAhead(leg, query), frame),
    ),
  );
  const calm = begins.filter(({ key }) => breaching?.has(key) === false);
  const heard =
    leg.measure === undefined && calm.length > 0
      ? await heardOf(calm, { frame, ask: askAhead, measures: [] })
      : none;
  const past = new Set(
    calm
      .map(({ key }) => key)
      .filter((key) =>
        leg.measure === undefined ? heard.get(key) === 'heard' : measured?.has(key) === true,
      ),
  );
  return past.size === 0 ? known : new Map([...known].filter(([key]) => !past.has(key)));
}

/**
 * Drops answers about hosts that are away, for what a host measures of itself: its last samples stay in a
 * window for minutes, and say nothing of it now. Instances that already fire are not ended by this.
 */
async function withoutAway(
  known: AnswerRows['rows'],
  leg: Leg,
  { instances, ask }: Pick<SecondLookParts, 'instances' | 'ask'>,
): Promise<AnswerRows['rows']> {
  const devices = ofOneHost(leg.query)
    ? beginning(known, instances).flatMap(({ deviceId }) => deviceId ?? [])
    : [];
  const away = await awayAmong(devices, ask);
  const past = new Set(
    away.size === 0
      ? []
      : beginning(known, instances).flatMap(({ key, deviceId }) =>
          deviceId !== null && away.has(deviceId) ? [key] : [],
        ),
  );
  return past.size === 0 ? known : new Map([...known].filter(([key]) => !past.has(key)));
}

/** Rows of instances that do not fire yet. */
const beginning = (
  known: AnswerRows['rows'],
  instances: SecondLookParts['instances'],
): readonly Row[] =>
  [...known.values()].filter(
    ({ key }) => !['firing', 'held'].includes(instances?.get(key)?.phase ?? ''),
  );

/**
 * Returns the measures that the next evaluation will need immediately: those of a rule that had
 * clear instances at the last one.
 */
export function measuresToAsk(
  { legs }: Plan,
  instances: ReadonlyMap<string, Instance> | undefined,
): readonly Pick<Leg, 'store' | 'query'>[] {
  const isClearing = [...(instances?.values() ?? [])].some(
    ({ phase, clearedAt }) => phase === 'firing' && clearedAt !== null,
  );
  return isClearing
    ? legs.flatMap(({ store, measure }) =>
        measure === undefined ? [] : [{ store, query: measure }],
      )
    : [];
}

async function unmeasured(
  missing: readonly Instance[],
  { frame, ask }: SecondLookParts,
): Promise<ReadonlyMap<string, Heard>> {
  const measures = await Promise.all(
    frame.plan.legs.map(async (leg) =>
      leg.measure === undefined ? undefined : rowsOf(await ask(leg, leg.measure), frame),
    ),
  );
  return heardOf(
    missing.filter(({ key }) => !measures.some((of) => of?.has(key) === true)),
    { frame, ask, measures },
  );
}

const none: ReadonlyMap<string, Heard> = new Map();

const rowsOf = async (
  { answer }: Asked,
  frame: AnswerFrame,
): Promise<AnswerRows['rows'] | undefined> =>
  answer instanceof Error ? undefined : (await answerRowsInTurns(answer, frame, undefined)).rows;
