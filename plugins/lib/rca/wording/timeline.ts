import type { Scene } from '../causes/scene.ts';
import { onsetOf } from '../causes/hypotheses.ts';
import type { Candidate } from '../causes/ranking.ts';
import { knownChecks } from '../signals/checks.ts';
import type { Moment, RelatedChange } from '../signals/findings.ts';
import type { Series } from '../signals/snapshot.ts';

const maxMoments = 30;

/** Returns the order of events that are related to the cause. */
export function timelineOf(
  scene: Scene,
  candidates: readonly Candidate[],
  changes: readonly RelatedChange[],
  symptom: Series | undefined,
): Moment[] {
  const told = candidates
    .filter(({ leaf, reach }, at) => at === 0 || (reach && leaf < 0.7))
    .slice(0, 6);
  return [
    ...told.flatMap(onsetMoment),
    ...changes.slice(0, 5).map(changeMoment),
    ...told.flatMap(logMoment),
    ...told.flatMap((candidate) => checkMoments(scene, candidate)),
    ...alertMoments(scene, symptom),
  ]
    .sort((a, b) => a.at - b.at)
    .slice(0, maxMoments);
}

function onsetMoment({ id, facts }: Candidate): readonly Moment[] {
  const at = onsetOf(facts);
  const first = facts.signals[0]?.deviation.series;
  return at === undefined
    ? []
    : [
        {
          at,
          node: id,
          kind: 'onset',
          text: `${facts.node.name}: ${first?.metric ?? 'data'} leaves its usual range`,
          evidence: first ? [first.evidence] : [],
        },
      ];
}

const changeMoment = ({ at, node, kind, title, evidence }: RelatedChange): Moment => ({
  at,
  ...(node === undefined ? {} : { node }),
  kind: 'change',
  text: `${kind}: ${title}`,
  evidence: [evidence],
});

const logMoment = ({ id, facts: { templates } }: Candidate): readonly Moment[] =>
  templates.slice(0, 1).map(({ log, first_at: at, count, gone }) => ({
    at,
    node: id,
    kind: 'log',
    text: gone ? `no more lines like: ${log.template}` : `${count} lines like: ${log.template}`,
    evidence: [log.evidence],
  }));

function checkMoments({ facts }: Scene, { id }: Candidate): readonly Moment[] {
  const { node, complaints } = facts.get(id)!;
  return complaints.flatMap(({ check, since, evidence }): Moment[] =>
    since === undefined
      ? []
      : [
          {
            at: since,
            node: id,
            kind: 'check',
            text: `${node.name}: ${knownChecks[check]!.says}`,
            evidence: [evidence],
          },
        ],
  );
}

/** Returns the moments of the alert: its series leaves the usual range, it fires, it recovers. */
function alertMoments(
  { snapshot: { symptom: alert }, windows }: Scene,
  symptom: Series | undefined,
): readonly Moment[] {
  const { metric, fired_at: firedAt, resolved_at: resolvedAt } = alert;
  const node = alert.node === undefined ? {} : { node: alert.node };
  return [
    {
      at: windows.onset,
      ...node,
      kind: 'symptom',
      text: `${metric} leaves its usual range`,
      evidence: symptom ? [symptom.evidence] : [],
    },
    { at: firedAt, ...node, kind: 'fired', text: `The alert on ${metric} fires`, evidence: [] },
    ...(resolvedAt === undefined
      ? []
      : [
          {
            at: resolvedAt,
            kind: 'recovered' as const,
            text: `${metric} is back in its usual range`,
            evidence: [],
          },
        ]),
  ];
}
