import type { Incidents, IncidentView } from 'svc/contracts/alert';
import type { HostCheck } from 'svc/contracts/investigate';
import type { SeenDevices } from 'svc/query';
import { type CheckResult, type Findings, knownChecks, type Snapshot } from 'svc/rca';
import { type Handle, type Logger, messageOf, type Principal, timestamp } from 'svc/sdk';

import { reader } from './assist/assistant.ts';
import type { Subject } from './fetch/symptom.ts';
import type { ReportBody } from './report/build-report.ts';
import { maxRelated } from './report/schema.ts';
import type { RunRow, RunStore } from './run-store.ts';
import { reportsFolder } from './shelving.ts';

/** Search of documents, as far as it is used here; its plugin may be missing. */
export interface DocumentSearch {
  search(asked: {
    readonly text: string;
    readonly limit: number;
    readonly principal: Principal;
  }): Promise<
    readonly {
      readonly document_id: string | number;
      readonly path: string;
      readonly title: string;
      readonly heading: string;
      readonly excerpt: string;
      readonly score: number;
    }[]
  >;
}

export interface Playbooks {
  readonly checks: ReadonlyMap<string, HostCheck>;
  /** Checks among them that match the cause, best first. */
  readonly fitting: ReturnType<typeof fittingChecks>;
}

export interface SurroundingParts {
  readonly store: RunStore;
  readonly incidents: Incidents;
  readonly documents: Handle<DocumentSearch>;
  readonly log: Logger;
}

const spanMs = 10 * 60_000;
/** Shown of the time before it began. */
const hourMs = 3_600_000;
const mostPast = 5;
const pastLooked = 300;
const leastLike = 0.35;
const longestExcerpt = 600;
const mostRunbooks = 2;
const playbook = 'playbook://';

/** Incidents of the same time: of the same rule, on the same host, on what hangs together with it. */
export async function relatedTo(
  subject: Pick<Subject, 'incident' | 'fired_at'>,
  scope: ReadonlySet<string>,
  parts: SurroundingParts,
  seen: SeenDevices,
): Promise<ReportBody['related_incidents']> {
  const { incident, fired_at: firedAt } = subject;
  const [runs, others] = await Promise.all([
    parts.store.around(firedAt, spanMs, incident.id, seen),
    parts.incidents.list({ since: firedAt - spanMs, limit: 200 }, seen),
  ]);
  const near = others.filter(
    ({ id, fired_at: at }) => id !== incident.id && Math.abs(Date.parse(at) - firedAt) <= spanMs,
  );
  const byIncident = new Map<number, RunRow>();
  runs.forEach((run) => byIncident.set(run.incident_id, byIncident.get(run.incident_id) ?? run));
  const related = near.map((other) => ({
    incident_id: other.id,
    investigation_id: byIncident.get(other.id)?.id ?? null,
    summary: other.summary.slice(0, 300),
    why: whyRelated(other, incident, scope),
  }));
  const rank = (one: (typeof related)[number]): number =>
    whys.indexOf(one.why) + (byIncident.get(one.incident_id)?.status === 'skipped' ? 0.5 : 0);
  return related
    .sort((a, b) => rank(a) - rank(b) || a.incident_id - b.incident_id)
    .slice(0, maxRelated);
}

const whys = ['same_host', 'in_scope', 'same_rule', 'same_time'] as const;

const whyRelated = (
  other: IncidentView,
  own: IncidentView,
  scope: ReadonlySet<string>,
): (typeof whys)[number] =>
  other.device_id !== undefined && other.device_id === own.device_id
    ? 'same_host'
    : other.device_id !== undefined && scope.has(`device:${other.device_id}`)
      ? 'in_scope'
      : other.rule_key === own.rule_key
        ? 'same_rule'
        : 'same_time';

/**
 * Returns the complaints of checks about the cause and the host of the symptom, those of the cause
 * first.
 */
const complaintsIn = (
  { root_cause: cause }: Findings,
  { checks, symptom }: Snapshot,
): readonly CheckResult[] =>
  checks
    .filter(
      ({ ok, interesting, node }) =>
        !ok && interesting && (node === cause?.node || node === symptom.node),
    )
    .toSorted((a, b) => Number(b.node === cause?.node) - Number(a.node === cause?.node));

/**
 * Returns marks by which a later incident is recognized as similar: new templates, complaining
 * checks, the indicator.
 */
export function marksOf(findings: Findings, snapshot: Snapshot): readonly string[] {
  const { root_cause: cause, hypotheses } = findings;
  const { logs } = snapshot;
  const complaints = complaintsIn(findings, snapshot).map(({ check }) => `check ${check}`);
  const said = new Set(
    hypotheses
      .slice(0, 3)
      .flatMap(({ support }) =>
        support.filter(({ kind }) => kind === 'log').map(({ evidence }) => evidence),
      ),
  );
  const templates = logs
    .filter(
      ({ evidence, severity }) =>
        said.has(evidence) && (severity === 'error' || severity === 'fatal'),
    )
    .map(({ template }) => `log ${template.slice(0, 160)}`);
  const indicator = cause?.indicator
    ? [`indicator ${cause.indicator.kind} ${cause.indicator.name}`]
    : [];
  return [...new Set([...indicator, ...complaints, ...templates])].slice(0, 40);
}

/** Returns reports of similar earlier incidents, with people's feedback. */
export async function similarTo(
  subject: Pick<Subject, 'incident'>,
  marks: readonly string[],
  { store }: Pick<SurroundingParts, 'store'>,
  seen: SeenDevices,
): Promise<ReportBody['similar_past']> {
  const { incident } = subject;
  const others = (await store.ready(pastLooked, seen)).filter(
    ({ incident_id: id, fire_seq: seq }) => id !== incident.id || seq !== incident.event_count,
  );
  // Of several looks at one firing the newest.
  const past = [
    ...new Map(
      others.toReversed().map((run) => [`${run.incident_id} ${run.fire_seq}`, run]),
    ).values(),
  ];
  const scored = past
    .map((run) => ({ run, likeness: likenessOf(run, incident, marks) }))
    .filter(({ likeness }) => likeness >= leastLike)
    .sort((a, b) => b.likeness - a.likeness || b.run.id - a.run.id)
    .slice(0, mostPast);
  const said = await store.feedback(scored.map(({ run }) => run.id));
  return scored.map(({ run, likeness }) => ({
    incident_id: run.incident_id,
    investigation_id: run.id,
    at: timestamp(run.fired_at),
    likeness: Math.round(likeness * 1_000) / 1_000,
    verdict: run.verdict ?? 'unknown',
    summary: run.summary,
    true_cause:
      said.findLast(({ run_id: id, true_cause: cause }) => id === run.id && cause !== '')
        ?.true_cause ?? null,
  }));
}

function likenessOf(run: RunRow, incident: IncidentView, marks: readonly string[]): number {
  const labels = Object.entries(JSON.parse(run.labels) as Readonly<Record<string, string>>).map(
    (pair) => pair.join('='),
  );
  const own = Object.entries(incident.labels).map((pair) => pair.join('='));
  return (
    (run.rule_key === incident.rule_key ? 0.4 : 0) +
    0.25 * overlap(labels, own) +
    0.35 * overlap(JSON.parse(run.marks) as string[], marks)
  );
}

function overlap(a: readonly string[], b: readonly string[]): number {
  const both = new Set([...a, ...b]);
  const inBoth = new Set(a.filter((one) => b.includes(one)));
  return both.size === 0 ? 0 : inBoth.size / both.size;
}

/**
 * Returns checks about the cause with something to read, those of its kind of fault first: of what
 * deviates, of that category, the rest.
 */
export function fittingChecks(
  findings: Findings,
  snapshot: Snapshot,
  checks: ReadonlyMap<string, HostCheck>,
): readonly (readonly [name: string, check: HostCheck])[] {
  const { root_cause: cause } = findings;
  const complaints = complaintsIn(findings, snapshot);
  const indicator = cause?.indicator ?? undefined;
  const rank = (name: string): number => {
    const own = complaints.find(({ check }) => check === name);
    const isNamed =
      indicator !== undefined &&
      (indicator.name === name || checks.get(name)?.query.includes(`${indicator.name}{`) === true);
    const isOfKind =
      indicator !== undefined &&
      knownChecks[name]?.shows?.some((kind) => kind === indicator.kind) === true;
    return (own?.node === cause?.node ? 0 : 4) + (isNamed ? 0 : isOfKind ? 1 : 2);
  };
  return [...new Set(complaints.map(({ check }) => check))]
    .flatMap((name) =>
      checks.get(name)?.runbook === undefined ? [] : [[name, checks.get(name)!] as const],
    )
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .filter(
      ([, { runbook }], at, all) => all.findIndex(([, other]) => other.runbook === runbook) === at,
    );
}

/** The address that the rule names, and what to read: the playbook of the fault, or the document whose words fit best. */
export async function runbookFor(
  subject: Pick<Subject, 'incident'>,
  summary: string,
  { documents, log, fitting, checks }: Pick<SurroundingParts, 'documents' | 'log'> & Playbooks,
  seen: SeenDevices,
): Promise<ReportBody['runbook']> {
  const { runbook_url: url, rule_name: name, summary: said } = subject.incident;
  let found: Awaited<ReturnType<DocumentSearch['search']>>[number] | undefined;
  // Documents may belong to any customer.
  if (documents.available && seen === undefined) {
    try {
      const all = await documents
        .get()
        .search({ text: `${name} ${said} ${summary}`.slice(0, 400), limit: 10, principal: reader });
      const isOf = (runbooks: readonly (string | undefined)[], path: string): boolean =>
        runbooks.some(
          (one) =>
            one?.startsWith(playbook) === true &&
            `/${path}`.endsWith(`/${one.slice(playbook.length)}`),
        );
      const [first] = fitting;
      const calm = [...checks.values()].flatMap(({ runbook: one }) =>
        fitting.some(([, { runbook }]) => runbook === one) ? [] : [one],
      );
      // A report on another incident says what happened, not what to do; one for a different fault
      // is misleading.
      found =
        all.find(({ path }) => isOf([first?.[1].runbook], path)) ??
        all.find(
          ({ path }) =>
            !path.startsWith(`${reportsFolder}/`) && (first === undefined || !isOf(calm, path)),
        );
    } catch (error) {
      log.debug(
        { event: 'investigate.documents_unread', cause: messageOf(error) },
        'runbook search failed; investigating without documents',
      );
    }
  }
  const matched = found && {
    document_id: found.document_id,
    path: found.path,
    title: found.title,
    heading: found.heading,
    excerpt: found.excerpt.slice(0, longestExcerpt),
  };
  return url === undefined && matched === undefined
    ? null
    : { url: url ?? null, matched_doc: matched ?? null };
}

/** A page of the console, with all in it escaped that could end a link in markdown. */
function pageOf(parts: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const escaped = (text: string): string =>
    encodeURIComponent(text).replaceAll(
      /[!'()*~]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${escaped(value)}`);
  return `/ui/${parts.map(escaped).join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

const mostWanted = 3;

/** Returns what is not measured and would decide: what the symptom and the first suspects depend on, nearest first. */
function wantedOf(
  { hypotheses }: Findings,
  { nodes, edges, series, spans, symptom }: Snapshot,
): readonly { readonly node: string; readonly name: string; readonly why: string }[] {
  const measured = new Set([...series, ...spans].map(({ node }) => node));
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const suspects = hypotheses.slice(0, 2).map(({ node }) => node);
  const reached = new Set([...(symptom.node === undefined ? [] : [symptom.node]), ...suspects]);
  for (const id of reached) {
    edges.forEach(({ from, to }) => from === id && reached.add(to));
  }
  const near = [...reached, ...nodes.map(({ id }) => id)];
  return [...new Set(near)]
    .filter((id) => names.has(id) && !measured.has(id))
    .slice(0, mostWanted)
    .map((node) => ({
      node,
      name: names.get(node)!,
      why: reached.has(node)
        ? 'nothing is measured of it, and what fails depends on it'
        : 'nothing is measured of it',
    }));
}

/** Returns the next things to examine: read-only, and run by a person. */
export function actionsFor(
  findings: Findings,
  snapshot: Snapshot,
  checks: ReadonlyMap<string, HostCheck>,
): ReportBody['suggested_actions'] {
  const { root_cause: cause, hypotheses } = findings;
  const evidence = new Map(snapshot.evidence.map((one) => [one.id, one]));
  const at = `${Math.floor((findings.onset_at - hourMs) / 1_000)}-${Math.ceil(snapshot.window.to / 1_000)}`;
  const actions: ReportBody['suggested_actions'] = [];
  const add = (
    label: string,
    why: string,
    more: Partial<ReportBody['suggested_actions'][number]>,
  ): void =>
    void actions.push({ label, class: 'safe', tool: null, args: null, link: null, why, ...more });
  for (const [name, { title, runbook }] of fittingChecks(findings, snapshot, checks).slice(
    0,
    mostRunbooks,
  )) {
    add(`Read the playbook: ${title}`, `the check ${name} complains`, { link: runbook! });
  }
  for (const { node, node_name: name, indicator } of hypotheses.slice(0, 2)) {
    const shown = indicator && evidence.get(indicator.evidence);
    if (shown?.source.startsWith('metrics')) {
      const args = { query: shown.query, last: '2h' };
      add(`Look at ${indicator!.name} of ${name}`, 'it is what deviates most there', {
        tool: 'metrics_range',
        args,
        link: pageOf(['explore'], { q: shown.query, at }),
      });
    }
    const device = /^device:(\d+)$/.exec(node)?.[1];
    if (device !== undefined) {
      add(`Look at what runs on ${name}`, 'the processes that use most of the machine', {
        link: pageOf(['devices', device, 'processes']),
      });
      const query = `{device_id="${device}"}`;
      add(`Read the logs of ${name}`, 'templates of the last hour, the new ones first', {
        tool: 'logs_templates',
        args: { query, last: '1h' },
        link: pageOf(['logs'], { q: query, at }),
      });
    }
  }
  if (findings.verdict === 'insufficient_data') {
    for (const { name, node, why } of wantedOf(findings, snapshot)) {
      const device = /^device:(\d+)$/.exec(node)?.[1];
      add(`Measure ${name}`, why, {
        link:
          device === undefined
            ? pageOf(['explore'], { q: `{__name__!="",instance=~"${name}.*"}`, at })
            : pageOf(['devices', device]),
      });
    }
  }
  if (cause === null) {
    add('Look at what changed', 'no measurement stands out', {
      tool: 'changes_feed',
      args: { last: '6h' },
      link: '/api/v1/changes',
    });
  }
  // Where too little is known, what is missing comes first.
  return actions
    .toSorted(
      (a, b) => Number(b.label.startsWith('Measure ')) - Number(a.label.startsWith('Measure ')),
    )
    .slice(0, 6);
}
