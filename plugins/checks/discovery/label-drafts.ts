import { checkKinds } from 'svc/check';

import type { CheckDraft } from '../check/check-schema.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the checks that the labels of a container ask for: those of svc, and those written for AutoKuma. */
export const labelDrafts = (container: string, labels: Labels): readonly CheckDraft[] => [
  ...ownDrafts(container, labels),
  ...kumaDrafts(container, labels),
];

/** `svc.check.http=https://…`, with `svc.check.name`, `svc.check.group` and `svc.check.interval_s`. */
function ownDrafts(container: string, labels: Labels): readonly CheckDraft[] {
  const wanted = checkKinds.flatMap((kind) => {
    const target = labels[`svc.check.${kind}`];
    return target === undefined || target === '' ? [] : [{ kind, target }];
  });
  const name = labels['svc.check.name'] ?? container;
  const group = labels['svc.check.group'];
  return wanted.map(({ kind, target }) => ({
    name: wanted.length === 1 ? name : `${name} ${kind}`,
    kind,
    target,
    ...(group !== undefined && { group }),
    ...intervalIn(labels['svc.check.interval_s']),
  }));
}

/** `kuma.ID.TYPE.FIELD=VALUE`; only types that svc has a kind for. */
function kumaDrafts(container: string, labels: Labels): readonly CheckDraft[] {
  const monitors = new Map<string, { type: string; fields: Record<string, string> }>();
  for (const [label, value] of Object.entries(labels)) {
    const [, id, type, field] = /^kuma\.([\w-]+)\.([\w-]+)\.(\w+)$/.exec(label) ?? [];
    if (id !== undefined && type !== undefined && field !== undefined) {
      const monitor = monitors.get(`${id} ${type}`) ?? { type, fields: {} };
      monitor.fields[field] = value.replaceAll(/\{\{\s*container_name\s*\}\}/g, container);
      monitors.set(`${id} ${type}`, monitor);
    }
  }
  return [...monitors.values()].flatMap(({ type, fields }) => {
    const target = targets.get(type)?.(fields);
    // A template that only AutoKuma can fill in names no address.
    if (target === undefined || Object.values(fields).some((value) => value.includes('{{'))) {
      return [];
    }
    const { name = container, keyword, parent_name: group } = fields;
    const comparison = fields['invert_keyword'] === 'true' ? '!=' : '==';
    return [
      {
        name,
        ...target,
        ...(group !== undefined && { group }),
        ...(type === 'keyword' &&
          keyword !== undefined && {
            conditions: ['[STATUS] < 400', `[BODY] ${comparison} pat(*${keyword}*)`],
          }),
        ...intervalIn(fields['interval']),
      },
    ];
  });
}

type Target = Pick<CheckDraft, 'kind' | 'target'>;
const url = ({ url: target }: Labels): Target | undefined =>
  target === undefined ? undefined : { kind: 'http', target };

const targets: ReadonlyMap<string, (fields: Labels) => Target | undefined> = new Map([
  ['http', url],
  ['keyword', url],
  [
    'port',
    ({ hostname, port }: Labels): Target | undefined =>
      hostname === undefined || port === undefined
        ? undefined
        : { kind: 'tcp', target: `${hostname}:${port}` },
  ],
  [
    'ping',
    ({ hostname }: Labels): Target | undefined =>
      hostname === undefined ? undefined : { kind: 'ping', target: hostname },
  ],
  [
    'dns',
    ({ hostname }: Labels): Target | undefined =>
      hostname === undefined ? undefined : { kind: 'dns', target: hostname },
  ],
]);

const intervalIn = (text: string | undefined): { readonly interval_s?: number } => {
  const seconds = Number(text);
  return text !== undefined && Number.isInteger(seconds) ? { interval_s: seconds } : {};
};
