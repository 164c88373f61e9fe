import type { Static } from 'typebox';

import type { ReportItem } from './schema.ts';

export type Report = Static<typeof ReportItem>;

const verdicts: Readonly<Record<NonNullable<Report['verdict']>, string>> = {
  root_cause: 'Root cause found',
  suspected: 'A cause is suspected',
  no_anomaly: 'Nothing unusual was found',
  recovered: 'It is over',
  insufficient_data: 'Too little data to say',
  monitoring_fault: 'The monitoring itself is at fault',
};
const mostLines = 12;

/** The report for people, from the same data as its JSON: what is known, how far it can be trusted, and what to do next. */
export function markdownOf(report: Report): string {
  const { incident_id: incident, verdict, status, summary } = report;
  const head = [`# Incident ${incident}: ${verdict === null ? `investigation ${status.replace('_', ' ')}` : verdicts[verdict]}`, summary];
  const sections = [judgedOf, causeOf, chainOf, claimsOf, changesOf, timelineOf, nextOf, ruledOutOf, notSeenOf, besideOf, evidenceOf, footOf];
  return `${[...head, ...sections.flatMap((section) => section(report))].filter((part) => part !== '').join('\n\n')}\n`;
}

const section = (title: string, lines: readonly string[]): readonly string[] => {
  const more = lines.length - mostLines;
  return lines.length === 0 ? [] : [`## ${title}`, [...lines.slice(0, mostLines), ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')];
};

/** Before all else: whoever reads it next must not take for the cause what people have found wrong. */
const judgedOf = ({ feedback }: Report): readonly string[] =>
  section(
    'What people say of this report',
    feedback.map(
      ({ verdict, true_cause: cause, comment, by }) =>
        `- **${verdict}**, says ${text(by)}${cause === '' ? '' : `; in truth ${text(cause)}`}${comment === '' ? '' : `: ${text(comment)}`}`,
    ),
  );

function causeOf({ root_cause: cause, confidence }: Report): readonly string[] {
  if (cause === null) {
    return [];
  }
  const { indicator } = cause;
  return section('Cause', [
    `- **Where**: ${text(cause.node.name)} (${text(cause.node.kind)})`,
    `- **What**: ${text(cause.text)}`,
    `- **Kind**: ${cause.category.replaceAll('_', ' ')}`,
    `- **Since**: ${cause.since}`,
    ...(indicator !== null && indicator.usual !== null && indicator.worst !== null
      ? [`- **Shown by**: ${text(indicator.name)}, usually ${number(indicator.usual)}, at worst ${number(indicator.worst)} [${indicator.evidence}]`]
      : []),
    ...(confidence === null
      ? []
      : [
          `- **Confidence**: ${confidence.level}, ${number(confidence.value)} ${confidence.calibrated ? '(calibrated)' : '(uncalibrated)'}${confidence.lowered_by_model ? ', lowered by the model' : ''}: ` +
            Object.entries(confidence.parts)
              .map(([name, value]) => `${name} ${number(value)}`)
              .join(', '),
        ]),
  ]);
}

const chainOf = ({ chain }: Report): readonly string[] =>
  section(
    'From cause to symptom',
    chain.map((step, at) => `${at + 1}. ${text(step)}`),
  );

const claimsOf = ({ claims, disagreement }: Report): readonly string[] =>
  section('What was checked', [
    ...claims.map(
      ({ text: said, evidence_ids: ids, status, origin }) => `- ${status}: ${text(said)} [${ids.join(', ')}]${origin === 'model' ? ' (model)' : ''}`,
    ),
    ...(disagreement === null
      ? []
      : [`- The model named another cause, which the evidence contradicts: ${text(disagreement.text)} (${text(disagreement.why)})`]),
  ]);

const changesOf = ({ changes }: Report): readonly string[] =>
  section(
    'What changed before',
    changes.map(
      ({ at, kind, title, before_seconds: before, evidence }) =>
        `- ${at} ${kind.replaceAll('_', ' ')}: ${text(title)}, ${Math.round(before / 60)} min before [${evidence}]`,
    ),
  );

const timelineOf = ({ timeline }: Report): readonly string[] =>
  section(
    'Timeline',
    timeline.map(({ at, text: said, evidence }) => `- ${at} ${text(said)}${evidence.length === 0 ? '' : ` [${evidence.join(', ')}]`}`),
  );

const nextOf = ({ suggested_actions: actions, runbook }: Report): readonly string[] =>
  section('What to do next', [
    ...(runbook?.url ? [`- Runbook: ${link(runbook.url)}`] : []),
    ...(runbook?.matched_doc
      ? [`- Document: ${text(runbook.matched_doc.title)}, ${text(runbook.matched_doc.heading)} (${text(runbook.matched_doc.path)})`]
      : []),
    ...actions.map(({ label, why, link: to }) =>
      to !== null && page.test(to) ? `- [${text(label)}](${to}): ${text(why)}` : `- ${text(label)}: ${text(why)}${to === null ? '' : ` (${link(to)})`}`,
    ),
  ]);

const ruledOutOf = ({ ruled_out: ruled }: Report): readonly string[] =>
  section(
    'Ruled out',
    ruled.map(({ node_name: name, text: said, evidence }) => `- ${text(name)}: ${text(said)}${evidence.length === 0 ? '' : ` [${evidence.join(', ')}]`}`),
  );

const notSeenOf = ({ not_seen: unseen, degraded_reason: degraded }: Report): readonly string[] =>
  section('Not seen', [
    ...(degraded === null ? [] : [`- ${text(degraded)}`]),
    ...unseen.map(({ kind, text: said, node }) => `- ${kind}${node === null ? '' : ` of ${text(node)}`}: ${text(said)}`),
  ]);

const besideOf = ({ related_incidents: related, similar_past: past }: Report): readonly string[] => [
  ...section(
    'Related incidents',
    related.map(({ incident_id: id, why, summary }) => `- incident ${id} (${why.replaceAll('_', ' ')}): ${text(summary)}`),
  ),
  ...section(
    'Similar before',
    past.map(
      ({ incident_id: id, at, summary, true_cause: cause }) =>
        `- incident ${id}, ${at}: ${text(summary)}${cause === null ? '' : `; people said: ${text(cause)}`}`,
    ),
  ),
];

function evidenceOf(report: Report): readonly string[] {
  const cited = citedIn(report);
  const shown = report.evidence.filter(({ id }) => cited.has(id));
  const others = report.evidence.length - shown.length;
  return section('Evidence', [
    ...shown.map(
      ({ id, source, query, window, sha256, again }) =>
        `- ${id} ${text(source)} \`${code(query)}\`, ${window.from} to ${window.to}, sha256 ${sha256.slice(0, 12)}, again: ${again}`,
    ),
    ...(others > 0 ? [`- ${others} further answers were looked at, which say nothing of note`] : []),
  ]);
}

/** Evidence that anything above is built on. */
function citedIn({ root_cause: cause, claims, hypotheses, timeline, changes, ruled_out: ruled }: Report): ReadonlySet<string> {
  return new Set([
    ...(cause?.indicator ? [cause.indicator.evidence] : []),
    ...claims.flatMap(({ evidence_ids: ids }) => ids),
    ...hypotheses.slice(0, 3).flatMap(({ support }) => support.map(({ evidence }) => evidence)),
    ...timeline.flatMap(({ evidence }) => evidence),
    ...changes.slice(0, 5).map(({ evidence }) => evidence),
    ...ruled.slice(0, mostLines).flatMap(({ evidence }) => evidence),
  ]);
}

const looks = ['', 'Second look. ', 'Third look. '];

const footOf = ({ mode, engine_version: version, usage, look, ready_at: at }: Report): readonly string[] =>
  at === null
    ? []
    : [
        `${looks[look - 1] ?? ''}${mode === 'assisted' ? `With the model ${usage.model ?? ''}, checked by the server` : 'Without a model'}; engine ${version}, ${number(usage.seconds)} s, ${at}.`,
      ];

/** Words from outside, such as of logs and labels, on one line and without a meaning in markdown. */
const text = (words: string): string =>
  words
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\\`*[\]<>|#]|(?<!\w)_|_(?!\w)/g, '\\$&')
    .slice(0, 500);

const code = (query: string): string =>
  query
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll('`', "'")
    .slice(0, 300);

/** Of the console; a reader elsewhere reads what it is called. */
const page = /^\/ui\/[\w/?=&.%-]*$/;

/** Only what leads to a page or a route of svc. */
const link = (to: string): string => (/^(?:https?:\/\/|\/api\/|playbook:\/\/)[^\s<>()"']*$/.test(to) ? `<${to}>` : text(to));

const number = (value: number): string => String(Number(value.toPrecision(3)));
