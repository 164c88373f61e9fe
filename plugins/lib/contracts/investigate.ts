import type {
  Change,
  CheckResult,
  Edge,
  EvidenceKind,
  LogTemplate,
  Node,
  Period,
  Series,
  SliKind,
  SpanAggregate,
  Unit,
  Verdict,
} from 'svc/rca';
import { defineEvent, defineExtensionPoint, defineService } from 'svc/sdk';

/** One question to one source, such that its text and window alone give the answer again. */
export interface Question {
  readonly kind: EvidenceKind;
  /** Which source, and what narrows it: `metrics`, `metrics {device_id=~"7"}`. */
  readonly source: string;
  readonly query: string;
  readonly window: Period;
  /** Name of the node that is unseen if there is no answer. */
  readonly node?: string;
}

export interface Answer {
  /** Plain JSON of bounded size; the digest of the evidence is computed from it. */
  readonly value: unknown;
  /** A few figures of it. */
  readonly digest: Readonly<Record<string, unknown>>;
  /** Trust in the content: `untrusted` if outsiders can write it. */
  readonly trust: 'trusted' | 'untrusted';
  readonly truncated?: boolean;
  readonly redactions?: number;
}

/** Source of evidence; throws `unavailable` while it cannot be asked. */
export interface EvidenceSource {
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** The part of an answer that later samples do not touch; for those that answer about what is still on its way. */
  settled?(value: unknown, to: number): unknown;
}

/** Statements of one answer about nodes. */
export interface Parts {
  readonly nodes?: readonly Node[];
  readonly edges?: readonly Edge[];
  readonly series?: readonly Series[];
  readonly logs?: readonly LogTemplate[];
  readonly spans?: readonly SpanAggregate[];
  readonly changes?: readonly Change[];
  readonly checks?: readonly CheckResult[];
}

/** Subject of an investigation. */
export interface Scope {
  readonly fired_at: number;
  readonly window: Period;
  readonly nodes: readonly Node[];
  /** Ids of the devices among them. */
  readonly device_ids: readonly string[];
  /** Names of the services among them. */
  readonly services: readonly string[];
}

/**
 * Evidence contributed by another plugin: what to ask, how it is answered, and what an answer says.
 */
export interface Fetcher extends EvidenceSource {
  /** Plans questions, which name `contributed:<id of the contribution>` as their source. */
  plan(scope: Scope): readonly Omit<Question, 'source'>[];
  read(value: unknown, question: Question, evidence: string): Parts;
}

/** Contributions are named by what their questions have as source. */
export const Fetchers = defineExtensionPoint<Fetcher>('investigate.fetcher', undefined, {
  methods: ['plan', 'read', 'ask'],
});

/** A check of hosts as data: a query that has one series for each device, and from which value on it is bad. */
export interface HostCheck {
  readonly title: string;
  /** PromQL; `$devices` becomes the matcher of the devices that are looked at. */
  readonly query: string;
  readonly op: '>' | '>=' | '<' | '<=' | '==';
  readonly value: number;
  /** Min consecutive bad samples; default 1. */
  readonly lasting?: number;
  /** Message if it is bad; `$value` and the names of labels are filled in. */
  readonly message: string;
  /**
   * Runbook: the address of a page, or `playbook://hosts/disk-full.md`; a report that blames this
   * names it.
   */
  readonly runbook?: string;
}

const hostCheck = {
  type: 'object',
  required: ['title', 'query', 'op', 'value', 'message'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    query: { type: 'string', minLength: 1, maxLength: 4_000 },
    op: { enum: ['>', '>=', '<', '<=', '=='] },
    value: { type: 'number' },
    lasting: { type: 'integer', minimum: 1, maximum: 1_000 },
    message: { type: 'string', minLength: 1, maxLength: 400 },
    runbook: { type: 'string', pattern: '^(https?|playbook)://[^\\s<>()"\']+$', maxLength: 400 },
  },
};

/** Contributed by code or in a `plugin.json`; named by the check. */
export const HostChecks = defineExtensionPoint<HostCheck>('investigate.check', hostCheck, {
  packs: {
    schema: hostCheck,
    sentence: (id, { title, query, op, value, lasting = 1, message, runbook }) =>
      `checks hosts in every investigation, as ${id} ("${title}"): if ${query} ${op} ${value} in ${lasting} consecutive samples, the report says "${message}"${runbook === undefined ? '' : ` and links to ${runbook}`}`,
  },
});

/**
 * A convention of measuring, as data: what metrics are called, what they are of, and how one signal
 * is made of them.
 */
export interface Convention {
  readonly title: string;
  /** Whole names of metrics: a regular expression in the syntax of RE2; its groups are `$1` … in the query. */
  readonly metrics: string;
  /** Part of a name that shows that it is another thing: a regular expression as well. */
  readonly except?: string;
  /** Metrics that the query needs besides: names, or regular expressions with the groups of `metrics`; the first is `$need` in the query. */
  readonly needs?: readonly string[];
  /** Kind of thing that its labels name; `store`: databases, caches, queues and servers. */
  readonly of: 'service' | 'host' | 'container' | 'store' | 'any';
  /** Meaning: a kind of signal, or a time of `start` or a `version`, whose change is a change. */
  readonly kind: ConventionKind;
  readonly unit: Unit;
  readonly worse?: 'up' | 'down' | 'either';
  /**
   * PromQL with one series for each thing: `$metric`, `$on` for the matcher of the things, `$by` for
   * the labels that name them, `$failing` for the rate of those that failed.
   */
  readonly query: string;
  /** Name of the signal in reports; default: made of metric and title. */
  readonly name?: string;
  /** True if its labels name whom the thing calls. */
  readonly client?: boolean;
  /** True if everything around depends on it, as on what resolves names. */
  readonly everyone?: boolean;
  /** True if somebody else measures it, so that it goes on when the thing is gone. */
  readonly outside?: boolean;
  /** Weight from 0 to 1; default 1. */
  readonly weight?: number;
}

export type ConventionKind = SliKind | 'start' | 'version';

/** Every kind and every unit, which the compiler compares with those of the engine. */
const conventionKinds: Readonly<Record<ConventionKind, true>> = {
  error_ratio: true,
  errors: true,
  latency: true,
  rate: true,
  cpu: true,
  memory: true,
  disk: true,
  network: true,
  load: true,
  saturation: true,
  queue: true,
  events: true,
  other: true,
  start: true,
  version: true,
};
const conventionUnits: Readonly<Record<Unit, true>> = {
  ratio: true,
  percent: true,
  seconds: true,
  bytes: true,
  per_second: true,
  count: true,
  other: true,
};

const convention = {
  type: 'object',
  required: ['title', 'metrics', 'of', 'kind', 'unit', 'query'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    metrics: { type: 'string', minLength: 1, maxLength: 1_000 },
    except: { type: 'string', minLength: 1, maxLength: 1_000 },
    needs: { type: 'array', maxItems: 4, items: { type: 'string', minLength: 1, maxLength: 200 } },
    of: { enum: ['service', 'host', 'container', 'store', 'any'] },
    kind: { enum: Object.keys(conventionKinds) },
    unit: { enum: Object.keys(conventionUnits) },
    worse: { enum: ['up', 'down', 'either'] },
    query: { type: 'string', minLength: 1, maxLength: 4_000 },
    name: { type: 'string', minLength: 1, maxLength: 120 },
    client: { type: 'boolean' },
    everyone: { type: 'boolean' },
    outside: { type: 'boolean' },
    weight: { type: 'number', minimum: 0, maximum: 1 },
  },
};

/** Contributed by code or in a `plugin.json`; named by the convention. */
export const Conventions = defineExtensionPoint<Convention>('investigate.convention', convention, {
  packs: {
    schema: convention,
    sentence: (id, { title, metrics, query }) =>
      `reads metrics called ${metrics} in every investigation, as ${id} ("${title}"): ${query}`,
  },
});

export type RunStatus = 'pending' | 'running' | 'ready' | 'failed' | 'skipped';

/** State of the newest investigation of an incident. */
export interface InvestigationState {
  readonly id: number;
  readonly incident_id: number;
  readonly status: RunStatus;
  readonly verdict: Verdict | null;
  readonly summary: string;
}

export interface Investigations {
  /** Begins one, whatever the gates for automatic ones say; the one that waits or runs already, where there is one. */
  start(incidentId: number, by: string): Promise<InvestigationState>;
  newest(incidentId: number): Promise<InvestigationState | undefined>;
  /** The report for people, as markdown. */
  markdown(id: number): Promise<string>;
}

export const Investigations = defineService<Investigations>('investigate.start');

/** Fired after the commit: a report exists, or has been enriched. */
export const InvestigationReady = defineEvent<
  InvestigationState & { readonly mode: 'deterministic' | 'assisted' }
>('investigation.ready');
