import {
  type Findings,
  present,
  type Series,
  type Snapshot,
  symptomSeries,
  valuesIn,
  type Windows,
  windowsOf,
} from 'svc/rca';

/** Sentences of a report that its own evidence contradicts, each with the figures. */
export function contradictions(snapshot: Snapshot, findings: Findings): readonly string[] {
  const symptom = symptomSeries(snapshot);
  const about: About = { snapshot, findings, symptom, windows: windowsOf(snapshot, symptom) };
  return [
    ...ofVerdict(about),
    ...ofClaims(about),
    ...ofHypotheses(about),
    ...ofRuledOut(about),
    ...ofTimeline(about),
    ...ofGaps(about),
  ];
}

interface About {
  readonly snapshot: Snapshot;
  readonly findings: Findings;
  readonly symptom: Series | undefined;
  readonly windows: Windows;
}

/** Says whether nobody can call a series usual: it was beyond all that was ever seen before, all of the time. */
function isFarOff(series: Series, { baseline, incident }: Windows): boolean {
  const before = present(valuesIn(series, baseline));
  const during = present(valuesIn(series, incident));
  if (before.length < 20 || during.length < 3) {
    return false;
  }
  const [least, most] = [Math.min(...before), Math.max(...before)];
  const spread = Math.max(most - least, 0.1 * Math.abs(most), 0.02);
  return (
    Math.min(...during) > most + 3 * spread ||
    (series.worse === 'either' && Math.max(...during) < least - 3 * spread)
  );
}

function ofVerdict({ findings, symptom, windows }: About): readonly string[] {
  const { verdict, summary, root_cause: cause, confidence, claims } = findings;
  const found: string[] = [];
  const isCalm = /is within its usual range/.test(summary);
  if (isCalm && symptom !== undefined && isFarOff(symptom, windows)) {
    found.push(`"${summary}" of a symptom that is far off`);
  }
  if (
    isCalm &&
    claims.some(({ text }) => text.startsWith(`${symptom?.metric} on`) && / left /.test(text))
  ) {
    found.push(`"${summary}" beside a claim that it left what is usual`);
  }
  if (
    (verdict === 'root_cause' || verdict === 'suspected') !== (cause !== null) &&
    verdict !== 'monitoring_fault'
  ) {
    found.push(`verdict ${verdict} with cause ${cause?.node_name ?? 'none'}`);
  }
  const [, level] = /Confidence (\w+)\./.exec(summary) ?? [];
  const { value } = confidence;
  const word = value >= 0.75 ? 'high' : value >= 0.5 ? 'medium' : 'low';
  if (level !== undefined && level !== word) {
    found.push(`"Confidence ${level}" beside ${value}`);
  }
  const [, name, times] = /^Higher load than usual: (.+) has ([\d.]+) times/.exec(summary) ?? [];
  if (times !== undefined && Number(times) < 1.2) {
    found.push(`"${summary}": ${name} has no more work`);
  }
  return found;
}

function ofClaims({ findings: { claims } }: About): readonly string[] {
  return claims.flatMap(({ text, status, assertion, checked_value: value }) => {
    const [, rises, worst, usual] =
      /(reached|fell to) (.+?)(?:, where (.+) is usual)?(?:; it was not measured before)?\.$/.exec(
        text,
      ) ?? [];
    const [higher, lower] = [numberIn(worst), numberIn(usual)];
    return [
      ...(assertion !== undefined && status !== 'verified'
        ? [`"${text}" is ${status}: ${value}`]
        : []),
      ...(higher !== undefined && lower !== undefined && worst === usual
        ? [`"${text}" tells the same figure twice`]
        : []),
      ...(higher !== undefined && lower !== undefined && (rises === 'reached') !== higher >= lower
        ? [`"${text}" goes the other way`]
        : []),
    ];
  });
}

/** A figure as reports have it, in its base unit. */
function numberIn(text: string | undefined): number | undefined {
  const [, figure, unit = ''] = /^(-?[\d.]+(?:e-?\d+)?) ?(.*)$/.exec(text ?? '') ?? [];
  return figure === undefined ? undefined : Number(figure) * (unit === 'ms' ? 0.001 : 1);
}

function ofHypotheses({ findings: { hypotheses }, snapshot, windows }: About): readonly string[] {
  return hypotheses.flatMap(({ node, node_name: name, text, indicator, support }) => {
    const own = snapshot.series.filter((one) => one.node === node);
    const found: string[] = [];
    const told = own.find(({ id }) => id === indicator?.series);
    const [, before, after] = / went from (.+) to ([^,]+)/.exec(text) ?? [];
    if (before !== undefined && before === after) {
      found.push(`"${text}" tells the same figure twice`);
    }
    if (before !== undefined && told !== undefined) {
      const values = present(valuesIn(told, windows.look));
      if (indicator?.worst === undefined || !values.includes(indicator.worst)) {
        found.push(`"${text}": ${indicator?.worst} never was`);
      }
    }
    if (/ is down: /.test(text)) {
      const last = own.flatMap((one) => valuesIn(one, windows.incident).slice(-1));
      const rates = own.filter(({ kind }) => kind === 'rate');
      const works = rates.filter((rate) => {
        const usual = present(valuesIn(rate, windows.baseline));
        const now = present(valuesIn(rate, windows.incident).slice(-1));
        return now.some((value) => value > 0.3 * Math.max(0, ...usual));
      });
      if (works.length > 0 && works.length === rates.length && last.every((one) => one !== null)) {
        found.push(`"${text}": ${name} still works`);
      }
    }
    for (const { kind, evidence, text: words } of support) {
      const [, count] = /a new log line occurred (\d+) times/.exec(words) ?? [];
      const logs = snapshot.logs.filter((one) => one.evidence === evidence && one.node === node);
      const total = (counts: readonly number[]): number =>
        counts.reduce((sum, one) => sum + one, 0);
      if (count !== undefined && !logs.some(({ counts }) => total(counts) >= Number(count))) {
        found.push(`"${words}" of ${name}: no line came so often`);
      }
      if (!snapshot.evidence.some(({ id }) => id === evidence)) {
        found.push(`${kind} "${words}" of ${name} refers to ${evidence}, which is not there`);
      }
    }
    return found;
  });
}

function ofRuledOut({
  findings: { ruled_out: ruledOut },
  snapshot,
  windows,
}: About): readonly string[] {
  return ruledOut.flatMap(({ node, reason, text }) => {
    const own = snapshot.series.filter((one) => one.node === node);
    const off = own.find((one) => isFarOff(one, windows));
    const isQuiet = reason === 'normal' || reason === 'innocent_change';
    return [
      ...(isQuiet && off !== undefined && !/ does not follow the symptom /.test(text)
        ? [
            `"${text}" beside ${off.metric}: ${present(valuesIn(off, windows.incident)).slice(0, 3).join(', ')}`,
          ]
        : []),
      ...(reason === 'normal' && own.every(({ values }) => present(values).length === 0)
        ? [`"${text}" of a node that is not measured`]
        : []),
    ];
  });
}

function ofTimeline({ findings: { timeline }, snapshot }: About): readonly string[] {
  return timeline.flatMap(({ at, text, kind }, index) => {
    const last = timeline[index - 1]?.at ?? 0;
    const end = Math.max(snapshot.taken_at, snapshot.symptom.resolved_at ?? 0);
    return [
      ...(at < last ? [`"${text}" is told after what came later`] : []),
      ...(at > end && kind !== 'change' ? [`"${text}" at a time that has not come`] : []),
    ];
  });
}

const ofGaps = ({ findings: { not_seen: gaps }, snapshot }: About): readonly string[] =>
  gaps.flatMap(({ node, text }) =>
    text.startsWith('There are no measurements for ') &&
    snapshot.series.some((one) => one.node === node && present(one.values).length > 0)
      ? [`"${text}" although it is measured`]
      : [],
  );
