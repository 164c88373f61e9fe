import { type Assertion, type Claim, comparisons, type Snapshot, statistics } from 'svc/rca';

/** Answer of a model, as far as it can be parsed. */
export interface ModelAnswer {
  readonly root_cause: { readonly node: string; readonly text: string } | null;
  readonly claims: readonly {
    readonly text: string;
    readonly evidence_ids: readonly string[];
    readonly assertion: Assertion | undefined;
  }[];
  readonly confidence: 'low' | 'medium' | 'high' | undefined;
}

const orNull = (schema: object): object => ({ anyOf: [schema, { type: 'null' }] });
const objectOf = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const string = { type: 'string' };

/** Form of an answer, for providers that enforce one. */
export const answerFormat = {
  name: 'report',
  schema: objectOf({
    root_cause: orNull(objectOf({ node: string, text: string })),
    claims: {
      type: 'array',
      items: objectOf({
        text: string,
        evidence_ids: { type: 'array', items: string },
        assertion: orNull(
          objectOf({
            evidence_id: string,
            part: orNull(string),
            stat: { type: 'string', enum: [...statistics] },
            over: orNull({ type: 'string', enum: ['incident', 'baseline'] }),
            op: { type: 'string', enum: [...comparisons] },
            value: { type: 'number' },
            tolerance: orNull({ type: 'number' }),
          }),
        ),
      }),
    },
    confidence: { type: 'string', enum: ['low', 'medium', 'high'] },
  }),
};

const mostClaims = 12;
const longest = 400;

/** Parses the single JSON object in a text; otherwise returns what is wrong with it. */
export function readAnswer(text: string): ModelAnswer | string {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) {
    return 'the answer contains no JSON object';
  }
  let value: unknown;
  try {
    value = JSON.parse(text.slice(from, to + 1));
  } catch {
    return 'the answer is not valid JSON';
  }
  const {
    root_cause: cause = null,
    claims = [],
    confidence,
  } = value as Readonly<Record<string, unknown>>;
  if (!Array.isArray(claims)) {
    return '"claims" is not a list';
  }
  if (cause !== null && !(isRecord(cause) && isText(cause['node']) && isText(cause['text']))) {
    return '"root_cause" is neither null nor an object with "node" and "text"';
  }
  const read = claims.slice(0, mostClaims).map(claimOf);
  const wrong = read.find((claim) => typeof claim === 'string');
  return typeof wrong === 'string'
    ? wrong
    : {
        root_cause:
          cause === null
            ? null
            : {
                node: String((cause as { node: string }).node).slice(0, longest),
                text: plain(String((cause as { text: string }).text)),
              },
        claims: read.filter((claim) => typeof claim !== 'string'),
        confidence:
          confidence === 'low' || confidence === 'medium' || confidence === 'high'
            ? confidence
            : undefined,
      };
}

function claimOf(claim: unknown, at: number): ModelAnswer['claims'][number] | string {
  if (
    !isRecord(claim) ||
    !isText(claim['text']) ||
    !Array.isArray(claim['evidence_ids']) ||
    claim['evidence_ids'].length === 0 ||
    !claim['evidence_ids'].every(isText)
  ) {
    return `claim ${at + 1} has no "text", or no "evidence_ids"`;
  }
  const assertion = withoutNulls(claim['assertion']);
  if (assertion !== undefined && assertion !== null && !isAssertion(assertion)) {
    return `the assertion of claim ${at + 1} does not have evidence_id, stat, op and value as they were described`;
  }
  return {
    text: plain(claim['text']),
    evidence_ids: claim['evidence_ids'].map(String).slice(0, 8),
    assertion: isRecord(assertion)
      ? ({
          ...assertion,
          tolerance: Math.abs(Number(assertion['tolerance'] ?? 0)) || 0,
        } as unknown as Assertion)
      : undefined,
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/** Returns an assertion without fields that say nothing: a form that is enforced has all of them. */
const withoutNulls = (value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
    : value;

const isAssertion = (value: unknown): boolean =>
  isRecord(value) &&
  isText(value['evidence_id']) &&
  (value['part'] === undefined || typeof value['part'] === 'string') &&
  statistics.some((stat) => stat === value['stat']) &&
  comparisons.some((op) => op === value['op']) &&
  (value['over'] === undefined || value['over'] === 'incident' || value['over'] === 'baseline') &&
  typeof value['value'] === 'number' &&
  Number.isFinite(value['value']);

const plain = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, longest);

/**
 * Returns why a claim is not credible even before its figure is recomputed: its evidence must
 * exist, and its words must be about what it asserts.
 */
export function objectionTo(
  { text, evidence_ids: ids, assertion }: ModelAnswer['claims'][number],
  snapshot: Snapshot,
  checked: number | undefined,
): string | undefined {
  const known = new Set(snapshot.evidence.map(({ id }) => id));
  if (ids.some((id) => !known.has(id))) {
    return 'it names evidence that does not exist';
  }
  if (assertion === undefined) {
    return 'it makes no claim that can be checked';
  }
  if (!ids.includes(assertion.evidence_id)) {
    return 'it makes a claim about other evidence than it names';
  }
  if (
    assertion.op !== '=='
      ? assertion.tolerance > Math.abs(assertion.value) * 0.1
      : assertion.tolerance > Math.abs(assertion.value) * 0.25
  ) {
    return 'its tolerance is too wide to mean anything';
  }
  const own = new Set(
    snapshot.series
      .filter(
        ({ evidence, id }) =>
          evidence === assertion.evidence_id &&
          (assertion.part === undefined || id === assertion.part),
      )
      .map(({ node }) => node),
  );
  const named = snapshot.nodes.filter(({ id, name }) => mentions(text, name) || mentions(text, id));
  if (own.size > 0 && named.length > 0 && !named.some(({ id }) => own.has(id))) {
    return 'it speaks of another node than its evidence is of';
  }
  const names = snapshot.nodes
    .flatMap(({ id, name }) => [id, name])
    .toSorted((a, b) => b.length - a.length);
  const bare = names
    .reduce((left, name) => left.replaceAll(name, ' '), text)
    .replaceAll(/\bE\d+\b|\d{4}-\d\d-\d\d\S*|\d\d:\d\d(?::\d\d)?/g, ' ');
  const figures = [...bare.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g)].map(([figure]) =>
    Number(figure),
  );
  const strange = figures.find(
    (figure) =>
      ![assertion.value, checked].some(
        (value) =>
          value !== undefined &&
          Math.abs(figure - value) <= Math.max(assertion.tolerance, Math.abs(value) * 0.02),
      ),
  );
  return strange === undefined ? undefined : `${strange} in its text is not the computed value`;
}

/** Returns whether a name occurs in a text as a separate word. */
function mentions(text: string, name: string): boolean {
  const parts = text.toLowerCase().split(name.toLowerCase());
  return (
    name.length > 2 &&
    parts.some(
      (before, at) =>
        at < parts.length - 1 && !/[\w.-]$/.test(before) && !/^[\w-]/.test(parts[at + 1]!),
    )
  );
}

/** A claim as the report has it. */
export type Verified = Claim & { readonly objection?: string };
