import { anomalous, type Blame, type Scene } from './causes/blame.ts';
import { onsetOf, shortNumber } from './causes/hypotheses.ts';
import type { Candidate } from './causes/ranking.ts';
import { knownChecks } from './signals/checks.ts';
import { claimOf } from './signals/claims.ts';
import type {
  Assertion,
  Claim,
  Hypothesis,
  Moment,
  NotSeen,
  RelatedChange,
  RuledOut,
} from './signals/findings.ts';
import type { Series } from './signals/snapshot.ts';

const mostRuledOut = 12;
const mostMoments = 30;

/** What happened in which order, as far as it has to do with the cause. */
export function timelineOf(
  { snapshot, windows, facts }: Scene,
  candidates: readonly Candidate[],
  changes: readonly RelatedChange[],
  symptom: Series | undefined,
): Moment[] {
  const { symptom: alert } = snapshot;
  const told = candidates
    .filter(({ leaf, reach }, at) => at === 0 || (reach && leaf < 0.7))
    .slice(0, 6);
  const moments: Moment[] = [
    ...told.flatMap(({ id, facts: own }): Moment[] => {
      const at = onsetOf(own);
      const first = own.signals[0]?.deviation.series;
      return at === undefined
        ? []
        : [
            {
              at,
              node: id,
              kind: 'onset',
              text: `${own.node.name}: ${first?.metric ?? 'data'} leaves what is usual`,
              evidence: first ? [first.evidence] : [],
            },
          ];
    }),
    ...changes.slice(0, 5).map((change): Moment => ({
      at: change.at,
      ...(change.node === undefined ? {} : { node: change.node }),
      kind: 'change',
      text: `${change.kind}: ${change.title}`,
      evidence: [change.evidence],
    })),
    ...told.flatMap(({ id, facts: { templates } }) =>
      templates.slice(0, 1).map(({ log, first_at: at, count }): Moment => ({
        at,
        node: id,
        kind: 'log',
        text: `${count} lines like: ${log.template}`,
        evidence: [log.evidence],
      })),
    ),
    ...told.flatMap(({ id }) =>
      facts.get(id)!.complaints.flatMap(({ check, since, evidence }): Moment[] =>
        since === undefined
          ? []
          : [
              {
                at: since,
                node: id,
                kind: 'check',
                text: `${facts.get(id)!.node.name}: ${knownChecks[check]!.says}`,
                evidence: [evidence],
              },
            ],
      ),
    ),
    {
      at: windows.onset,
      ...(alert.node === undefined ? {} : { node: alert.node }),
      kind: 'symptom',
      text: `${alert.metric} leaves what is usual`,
      evidence: symptom ? [symptom.evidence] : [],
    },
    {
      at: alert.fired_at,
      ...(alert.node === undefined ? {} : { node: alert.node }),
      kind: 'fired',
      text: `The alert on ${alert.metric} fires`,
      evidence: [],
    },
    ...(alert.resolved_at === undefined
      ? []
      : [
          {
            at: alert.resolved_at,
            kind: 'recovered' as const,
            text: `${alert.metric} is as usual again`,
            evidence: [],
          },
        ]),
  ];
  return moments.sort((a, b) => a.at - b.at).slice(0, mostMoments);
}

/** What was looked at and is not the cause, with the reason: other candidates, what the symptom needs and is well, and changes that hit nothing. */
export function ruledOutOf(
  { snapshot, windows, graph, facts }: Scene,
  candidates: readonly Candidate[],
  { relevance }: Blame,
): RuledOut[] {
  const [best, ...others] = candidates;
  const bestOnset = best && onsetOf(best.facts);
  const out: RuledOut[] = others
    .slice(0, mostRuledOut / 2)
    .map(({ id, facts: own, leaf, relevance: value, score }) => {
      const node = {
        node: id,
        node_name: own.node.name,
        evidence: own.signals.slice(0, 1).map(({ deviation }) => deviation.series.evidence),
      };
      const onset = onsetOf(own);
      if (leaf < 0.4) {
        return {
          ...node,
          reason: 'downstream',
          text: `${own.node.name} suffers from what it depends on.`,
        };
      }
      if (
        onset !== undefined &&
        bestOnset !== undefined &&
        onset > windows.onset &&
        onset > bestOnset
      ) {
        return {
          ...node,
          reason: 'later',
          text: `${own.node.name} deviates, but only after the symptom did.`,
        };
      }
      return value < 2 * anomalous
        ? {
            ...node,
            reason: 'unrelated',
            text: `${own.node.name} deviates, but not in step with the symptom.`,
          }
        : {
            ...node,
            reason: 'weaker',
            text: `${own.node.name} is possible; less speaks for it (${score.toFixed(2)} against ${best!.score.toFixed(2)}).`,
          };
    });
  const well = (best ? [best.id, ...graph.needs(best.id)] : []).concat(
    snapshot.symptom.node === undefined ? [] : graph.needs(snapshot.symptom.node),
  );
  for (const id of new Set(well)) {
    const own = facts.get(id)!;
    if (
      id !== best?.id &&
      own.measured &&
      (relevance.get(id) ?? 0) < anomalous &&
      !out.some(({ node }) => node === id)
    ) {
      const evidence = [...new Set(own.deviations.map(({ series }) => series.evidence))].slice(
        0,
        3,
      );
      out.push({
        node: id,
        node_name: own.node.name,
        reason: 'normal',
        text: `${own.node.name} is as usual in everything that was measured.`,
        evidence,
      });
    }
  }
  const recent = snapshot.changes.filter(
    ({ at, node }) =>
      node !== undefined &&
      node !== best?.id &&
      at <= windows.onset &&
      at > windows.onset - 3_600_000 &&
      facts.has(node) &&
      (relevance.get(node) ?? 0) < anomalous,
  );
  // Ten starts of units on one host are one thing that was ruled out.
  const told = new Map(recent.map((change) => [`${change.node} ${change.kind}`, change]));
  told.forEach(({ node, kind, evidence }) =>
    out.push({
      node: node!,
      node_name: facts.get(node!)!.node.name,
      reason: 'innocent_change',
      text: `The ${kind} of ${facts.get(node!)!.node.name} changed nothing that was measured there.`,
      evidence: [evidence],
    }),
  );
  return out.slice(0, mostRuledOut);
}

/** What was asked for and did not come, what nobody collects, and what was left out of scope. */
export function notSeenOf({ snapshot, facts }: Scene): NotSeen[] {
  const told = snapshot.missing.map(({ kind, node, reason, text }): NotSeen => ({
    kind,
    ...(node === undefined ? {} : { node }),
    reason,
    text,
  }));
  const unmeasured = [...facts.values()].filter(
    ({ node, measured }) =>
      !measured && !snapshot.missing.some((one) => one.node === node.id && one.kind === 'metric'),
  );
  const blank = unmeasured.slice(0, 10).map(({ node }): NotSeen => ({
    kind: 'metric',
    node: node.id,
    reason: 'absent',
    text: `Nothing is measured of ${node.name}.`,
  }));
  const left = snapshot.nodes.length - facts.size;
  return [
    ...told,
    ...blank,
    ...(left > 0
      ? [
          {
            kind: 'topology' as const,
            reason: 'too_much',
            text: `${left} nodes further away were not looked at.`,
          },
        ]
      : []),
  ];
}

/** What the report says in figures, each with what it can be checked by. */
export function claimsOf(
  { snapshot, facts }: Scene,
  hypotheses: readonly Hypothesis[],
  symptom: Series | undefined,
): Claim[] {
  const said: { text: string; assertion: Assertion }[] = [];
  const add = (text: string, assertion: Assertion): void => void said.push({ text, assertion });
  const about = (id: string, node: string, name: string): void => {
    const deviation = facts.get(node)?.deviations.find(({ series }) => series.id === id);
    if (deviation === undefined) {
      return;
    }
    const { series, worst, usual, onset_at: onset } = deviation;
    const rises = worst >= usual.median;
    const near = Math.abs(worst) * 1e-6 + 1e-9;
    const shared = { evidence_id: series.evidence, part: series.id };
    if (onset !== undefined) {
      add(`${series.metric} of ${name} left what is usual.`, {
        ...shared,
        stat: 'onset',
        op: '==',
        value: onset,
        tolerance: series.step_ms,
      });
    }
    const extreme = rises ? 'reached' : 'fell to';
    const beside =
      usual.count === 0
        ? '; it was not measured before'
        : `, where ${shortNumber(usual.median, series.unit)} is usual`;
    add(`${series.metric} of ${name} ${extreme} ${shortNumber(worst, series.unit)}${beside}.`, {
      ...shared,
      stat: rises ? 'max' : 'min',
      op: rises ? '>=' : '<=',
      value: worst,
      tolerance: near,
    });
  };
  if (symptom) {
    about(symptom.id, symptom.node, facts.get(symptom.node)?.node.name ?? symptom.node);
  }
  hypotheses
    .slice(0, 3)
    .forEach(
      ({ indicator, node, node_name: name }) =>
        indicator?.series !== undefined &&
        indicator.series !== symptom?.id &&
        about(indicator.series, node, name),
    );
  const [best] = hypotheses;
  const template = best && facts.get(best.node)?.templates[0];
  if (best && template) {
    const { log, count } = template;
    add(`A kind of line of ${best.node_name} came ${count} times in the incident.`, {
      evidence_id: log.evidence,
      part: log.id,
      stat: 'template_count',
      op: '==',
      value: count,
      tolerance: 0,
    });
  }
  return said.map(({ text, assertion }, at) => claimOf(snapshot, at, text, assertion));
}
