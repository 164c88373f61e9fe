import type { MadeWorld, WorldTruth } from './make.ts';
import type { Answer, NodeName } from './play.ts';

/** Comparison of the answer to one world with its truth. */
export interface Outcome {
  readonly seed: number;
  readonly kind: string;
  readonly sees: string;
  readonly fault: string;
  readonly verdict: string;
  readonly confidence: number;
  /** Rank from 0 of the first right answer; null: none is right. */
  readonly rank: number | null;
  /** True if every cause is among the first three. */
  readonly all: boolean;
  /** True if the answer says what is wrong, too. */
  readonly said: boolean;
  /** True if each step from the cause to the symptom is a dependency. */
  readonly path: boolean;
  readonly decoy: boolean;
  readonly answer: string;
  readonly truth: readonly string[];
  readonly symptom: string;
  readonly rule: string;
  readonly summary: string;
  readonly seconds: number;
}

export interface Group {
  readonly name: string;
  readonly worlds: number;
  readonly ac1: number;
  readonly ac3: number;
  readonly avg5: number;
  /** ITBench's: 0 if a true cause is missing, else the share of right ones among those named. */
  readonly itbench: number;
  readonly all: number;
  readonly said: number;
  /** OpenRCA 2.0's: cause and path. */
  readonly path: number;
}

export interface WorldTable {
  readonly worlds: number;
  readonly not_fired: readonly number[];
  readonly groups: readonly Group[];
  readonly by_fault: readonly Group[];
  readonly verdicts: Readonly<Record<string, number>>;
  readonly confidence_when_right: number;
  readonly confidence_when_wrong: number;
  readonly calm: number;
  readonly false_causes: number;
  readonly decoy_worlds: number;
  readonly decoys_blamed: number;
  readonly seconds: number;
  readonly outcomes: readonly Outcome[];
}

const namesCause = new Set(['root_cause', 'suspected']);

/** Judges one report. */
export function outcomeOf({ seed, kind, sees, truth, alert }: MadeWorld, answer: Answer): Outcome {
  const ranked = answer.hypotheses.map(({ node }) => node);
  const isRight = (node: NodeName): boolean =>
    truth.causes.some(({ names }) => isNamed(node, names));
  const at = ranked.findIndex(isRight);
  const first = answer.hypotheses[0];
  const cause = truth.causes.find(({ names }) => first !== undefined && isNamed(first.node, names));
  const told = [answer.root_cause?.text, answer.summary, first?.text, first?.category].join(' ');
  return {
    seed,
    kind,
    sees,
    fault: truth.fault,
    verdict: answer.verdict ?? answer.status,
    confidence: answer.confidence?.value ?? 0,
    rank: at === -1 ? null : at,
    all: truth.causes.every(({ names }) => ranked.slice(0, 3).some((node) => isNamed(node, names))),
    said: cause !== undefined && cause.said.test(told),
    path: at === 0 && pathIsTrue(answer, truth),
    decoy:
      first !== undefined &&
      namesCause.has(answer.verdict ?? '') &&
      truth.decoys.some((names) => isNamed(first.node, names)),
    answer: first === undefined ? '' : first.node.id,
    truth: truth.causes.map(
      ({ kind: fault, names }) => `${fault}: ${names.slice(0, 3).join(', ')}`,
    ),
    symptom: truth.symptom[0]!,
    rule: JSON.stringify(alert.condition),
    summary: answer.summary,
    seconds: answer.usage.seconds,
  };
}

/** Tells whether a node of a report goes by one of these names, as itself or as a port or a namespace of it. */
export function isNamed({ id, name }: NodeName, names: readonly string[]): boolean {
  const known = new Set(names.map((one) => one.toLowerCase()));
  return [name, id, id.slice(id.indexOf(':') + 1)].some((text) => {
    const one = text.toLowerCase();
    return (
      known.has(one) ||
      known.has(one.replace(/:\d+$/, '')) ||
      known.has(one.slice(one.lastIndexOf('/') + 1)) ||
      known.has(one.replace(/^[a-z]+:/, '').replace(/:\d+$/, ''))
    );
  });
}

function pathIsTrue({ propagation }: Answer, { edges }: WorldTruth): boolean {
  const node = (id: string): NodeName => ({ id, name: id, kind: '' });
  return propagation.every(({ from, to }) =>
    edges.some(
      ([one, other]) =>
        (isNamed(node(from), one) && isNamed(node(to), other)) ||
        (isNamed(node(to), one) && isNamed(node(from), other)),
    ),
  );
}

/** Sums up what came of many worlds. */
export function worldTableOf(
  outcomes: readonly Outcome[],
  notFired: readonly number[],
): WorldTable {
  const broken = outcomes.filter(({ fault }) => fault !== 'calm');
  const calm = outcomes.filter(({ fault }) => fault === 'calm');
  const groupsBy = (key: (one: Outcome) => string): Group[] =>
    [...new Set(broken.map(key))].sort().map((name) =>
      groupOf(
        name,
        broken.filter((one) => key(one) === name),
      ),
    );
  const verdicts: Record<string, number> = {};
  broken.forEach(({ verdict }) => (verdicts[verdict] = (verdicts[verdict] ?? 0) + 1));
  return {
    worlds: outcomes.length + notFired.length,
    not_fired: notFired,
    groups: groupsBy(({ sees }) => sees),
    by_fault: groupsBy(({ fault }) => fault),
    verdicts,
    confidence_when_right: mean(
      broken.filter(({ rank }) => rank === 0).map(({ confidence }) => confidence),
    ),
    confidence_when_wrong: mean(
      broken.filter(({ rank }) => rank !== 0).map(({ confidence }) => confidence),
    ),
    calm: calm.length,
    false_causes: calm.filter(({ verdict }) => namesCause.has(verdict)).length,
    decoy_worlds: outcomes.length,
    decoys_blamed: outcomes.filter(({ decoy }) => decoy).length,
    seconds: mean(outcomes.map(({ seconds }) => seconds)),
    outcomes,
  };
}

function groupOf(name: string, all: readonly Outcome[]): Group {
  const share = (holds: (one: Outcome) => boolean): number =>
    all.filter(holds).length / Math.max(1, all.length);
  const within = (count: number): number => share(({ rank }) => rank !== null && rank < count);
  return {
    name,
    worlds: all.length,
    ac1: within(1),
    ac3: within(3),
    avg5: mean([1, 2, 3, 4, 5].map(within)),
    // One cause is named: of two true ones it misses one.
    itbench: share(({ rank, fault }) => rank === 0 && fault !== 'two faults'),
    all: share((one) => one.all),
    said: share((one) => one.said),
    path: share((one) => one.path),
  };
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The table as a person reads it. */
export function shownWorlds(table: WorldTable): readonly string[] {
  const figure = (value: number): string => value.toFixed(2);
  const head = `${'WORLDS'.padEnd(22)} COUNT  AC@1  AC@3 AVG@5   ALL  KIND  PATH ITBENCH`;
  const line = (group: Group): string =>
    `${group.name.slice(0, 22).padEnd(22)} ${String(group.worlds).padStart(5)}  ${[group.ac1, group.ac3, group.avg5, group.all, group.said, group.path].map(figure).join('  ')}    ${figure(group.itbench)}`;
  return [
    head,
    ...table.groups.map(line),
    '',
    head.replace('WORLDS', 'FAULT '),
    ...table.by_fault.map(line),
    '',
    `verdicts: ${Object.entries(table.verdicts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    `confidence: ${figure(table.confidence_when_right)} when right, ${figure(table.confidence_when_wrong)} when wrong`,
    `calm worlds: ${table.calm}, cause named in ${table.false_causes}`,
    `decoys blamed: ${table.decoys_blamed} of ${table.decoy_worlds} worlds`,
    `seconds per investigation: ${figure(table.seconds)}`,
    ...(table.not_fired.length > 0
      ? [
          `rule did not fire in ${table.not_fired.length} worlds: seeds ${table.not_fired.slice(0, 20).join(', ')}`,
        ]
      : []),
  ];
}
