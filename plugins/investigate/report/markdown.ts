import type { Static } from 'typebox';

import { maxRelated, type ReportItem } from './schema.ts';
import { asMarkdown, asText, documentLink, isPlaybook, type Writing } from './writing.ts';

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

/**
 * Renders the report for people, from the same data as its JSON: what is known, how reliable it is,
 * and what to do next.
 */
export const markdownOf = (report: Report): string => writtenAs(report, asMarkdown);

/** The same for a terminal of those who reach svc at `origin`. */
export const textOf = (report: Report, origin: string): string => writtenAs(report, asText(origin));

function writtenAs(report: Report, say: Writing): string {
  const { incident_id: incident, verdict, status, summary } = report;
  const head = [
    `# Incident ${incident}: ${verdict === null ? `investigation ${status.replace('_', ' ')}` : verdicts[verdict]}`,
    say.words(summary),
  ];
  const sections = [
    judgedOf,
    causeOf,
    chainOf,
    claimsOf,
    changesOf,
    timelineOf,
    nextOf,
    ruledOutOf,
    notSeenOf,
    besideOf,
    evidenceOf,
    footOf,
  ];
  return `${[...head, ...sections.flatMap((section) => section(report, say))].filter((part) => part !== '').join('\n\n')}\n`;
}

const section = (title: string, lines: readonly string[]): readonly string[] => {
  const more = lines.length - mostLines;
  return lines.length === 0
    ? []
    : [
        `## ${title}`,
        [...lines.slice(0, mostLines), ...(more > 0 ? [`- and ${more} more`] : [])].join('\n'),
      ];
};

/**
 * Returns the notice placed before everything else: nobody must take for the cause what people have
 * marked wrong.
 */
const judgedOf = ({ feedback }: Report, { words, strong }: Writing): readonly string[] =>
  section(
    'What people say of this report',
    feedback.map(
      ({ verdict, true_cause: cause, comment, by }) =>
        `- ${strong(verdict)}, says ${words(by)}${cause === '' ? '' : `; in truth ${words(cause)}`}${comment === '' ? '' : `: ${words(comment)}`}`,
    ),
  );

function causeOf(
  { root_cause: cause, confidence }: Report,
  { words, strong }: Writing,
): readonly string[] {
  if (cause === null) {
    return [];
  }
  const { indicator } = cause;
  return section('Cause', [
    `- ${strong('Where')}: ${words(cause.node.name)} (${words(cause.node.kind)})`,
    `- ${strong('What')}: ${words(cause.text)}`,
    `- ${strong('Kind')}: ${cause.category.replaceAll('_', ' ')}`,
    `- ${strong('Since')}: ${cause.since}`,
    ...(indicator !== null && indicator.worst !== null
      ? [
          `- ${strong('Shown by')}: ${words(indicator.name)}, ${indicator.usual === null ? 'not measured before' : `usually ${number(indicator.usual)}`}, ` +
            `at worst ${number(indicator.worst)} [${indicator.evidence}]`,
        ]
      : []),
    ...(confidence === null
      ? []
      : [
          `- ${strong('Confidence')}: ${confidence.level}, ${number(confidence.value)} ${confidence.calibrated ? '(calibrated)' : '(uncalibrated)'}${confidence.lowered_by_model ? ', lowered by the model' : ''}: ` +
            Object.entries(confidence.parts)
              .map(([name, value]) => `${name} ${number(value)}`)
              .join(', '),
        ]),
  ]);
}

const chainOf = ({ chain }: Report, { words }: Writing): readonly string[] =>
  section(
    'From cause to symptom',
    chain.map((step, at) => `${at + 1}. ${words(step)}`),
  );

const claimsOf = ({ claims, disagreement }: Report, { words }: Writing): readonly string[] =>
  section('What was checked', [
    ...claims.map(
      ({ text: said, evidence_ids: ids, status, origin }) =>
        `- ${status}: ${words(said)} [${ids.join(', ')}]${origin === 'model' ? ' (model)' : ''}`,
    ),
    ...(disagreement === null
      ? []
      : [
          `- The model named another cause, which the evidence contradicts: ${words(disagreement.text)} (${words(disagreement.why)})`,
        ]),
  ]);

const changesOf = ({ changes }: Report, { words }: Writing): readonly string[] => {
  // Many of a kind are shown as one; the likeliest represents all.
  const alike = new Map<string, (typeof changes)[number][]>();
  for (const change of changes) {
    const key = `${change.kind} ${change.node} ${change.title.replaceAll(/\d+/g, '0')}`;
    alike.set(key, [...(alike.get(key) ?? []), change]);
  }
  return section(
    'What changed before',
    [...alike.values()].map(
      ([{ at, kind, title, before_seconds: before, evidence } = changes[0]!, ...others]) => {
        const more = others.length === 0 ? '' : `, and ${others.length} more like it`;
        return `- ${at} ${kind.replaceAll('_', ' ')}: ${words(title)}, ${Math.round(before / 60)} min before${more} [${evidence}]`;
      },
    ),
  );
};

const timelineOf = ({ timeline }: Report, { words }: Writing): readonly string[] =>
  section(
    'Timeline',
    timeline.map(
      ({ at, text: said, evidence }) =>
        `- ${at} ${words(said)}${evidence.length === 0 ? '' : ` [${evidence.join(', ')}]`}`,
    ),
  );

const nextOf = (
  { suggested_actions: actions, runbook }: Report,
  { words, link }: Writing,
): readonly string[] => {
  const playbooks = actions.filter(({ link: to }) => isPlaybook(to));
  const matched = runbook?.matched_doc;
  const isNamed =
    matched &&
    playbooks.some(({ link: to }) =>
      `/${matched.path}`.endsWith(to!.slice(to!.indexOf('://') + 2)),
    );
  return section('What to do next', [
    ...(runbook?.url ? [`- Runbook: ${link(runbook.url)}`] : []),
    ...playbooks.map(stepOf),
    ...(matched && !isNamed
      ? [
          `- Document: ${words(matched.title)}, ${words(matched.heading)}: ${link(documentLink(matched.path), matched.path)}`,
        ]
      : []),
    ...actions.filter(({ link: to }) => !isPlaybook(to)).map(stepOf),
  ]);

  function stepOf({ label, why, link: to }: (typeof actions)[number]): string {
    return to === null ? `- ${words(label)}: ${words(why)}` : `- ${link(to, label)}: ${words(why)}`;
  }
};

const ruledOutOf = ({ ruled_out: ruled }: Report, { words }: Writing): readonly string[] =>
  section(
    'Ruled out',
    ruled.map(
      ({ node_name: name, text: said, evidence }) =>
        `- ${words(name)}: ${words(said)}${evidence.length === 0 ? '' : ` [${evidence.join(', ')}]`}`,
    ),
  );

const notSeenOf = (
  { not_seen: unseen, degraded_reason: degraded }: Report,
  { words }: Writing,
): readonly string[] =>
  section('Not seen', [
    ...(degraded === null ? [] : [`- ${words(degraded)}`]),
    ...unseen.map(
      ({ kind, text: said, node }) =>
        `- ${kind}${node === null ? '' : ` of ${words(node)}`}: ${words(said)}`,
    ),
  ]);

const besideOf = (
  { related_incidents: related, similar_past: past }: Report,
  { words }: Writing,
): readonly string[] => [
  ...section('Related incidents', [
    ...related.map(
      ({ incident_id: id, why, summary }) =>
        `- incident ${id} (${why.replaceAll('_', ' ')}): ${words(summary)}`,
    ),
    ...(related.length < maxRelated
      ? []
      : [`- these are the nearest ${maxRelated}; the list of incidents has all of that time`]),
  ]),
  ...section(
    'Similar before',
    past.map(
      ({ incident_id: id, at, summary, true_cause: cause }) =>
        `- incident ${id}, ${at}: ${words(summary)}${cause === null ? '' : `; people said: ${words(cause)}`}`,
    ),
  ),
];

function evidenceOf(report: Report, { words, query: whole, route }: Writing): readonly string[] {
  const cited = citedIn(report);
  const shown = report.evidence.filter(({ id }) => cited.has(id));
  const others = report.evidence.length - shown.length;
  return section('Evidence', [
    ...shown.map(
      ({ id, source, query, window, sha256, again }) =>
        `- ${id} ${words(source)}, ${window.from} to ${window.to}, sha256 ${sha256.slice(0, 12)}, again: ${route(again)}${whole(query)}`,
    ),
    ...(others > 0 ? [`- ${others} more results were checked and show nothing of note`] : []),
  ]);
}

/** Evidence that anything above is built on. */
function citedIn({
  root_cause: cause,
  claims,
  hypotheses,
  timeline,
  changes,
  ruled_out: ruled,
}: Report): ReadonlySet<string> {
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

const footOf = ({
  mode,
  engine_version: version,
  usage,
  look,
  ready_at: at,
}: Report): readonly string[] =>
  at === null
    ? []
    : [
        `${looks[look - 1] ?? ''}${mode === 'assisted' ? `With the model ${usage.model ?? ''}, checked by the server` : 'Without a model'}; engine ${version}, ${number(usage.seconds)} s, ${at}.`,
      ];

const number = (value: number): string => String(Number(value.toPrecision(3)));
