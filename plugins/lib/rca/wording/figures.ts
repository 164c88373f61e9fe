import type { Scene } from '../causes/scene.ts';
import { shortNumber } from '../causes/hypotheses.ts';
import { claimOf } from '../signals/claims.ts';
import type { Assertion, Claim, Hypothesis } from '../signals/findings.ts';
import type { Series } from '../signals/snapshot.ts';

/** Returns the claims of the report in figures, each with what it can be checked by. */
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
      add(`${series.metric} on ${name} left its usual range.`, {
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
    add(`${series.metric} on ${name} ${extreme} ${shortNumber(worst, series.unit)}${beside}.`, {
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
  // Of lines that stopped, the last ones may be in the same bucket as the onset.
  if (best && template && !template.gone) {
    const { log, count } = template;
    add(`One log pattern of ${best.node_name} occurred ${count} times during the incident.`, {
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
