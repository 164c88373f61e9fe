import type { Period } from 'svc/rca';

import names from '../conventions/labels.json' with { type: 'json' };
import type { Entities } from './entities.ts';
import type { Gatherer } from '../fetch/gatherer.ts';
import { deviceNode, serviceNode } from '../fetch/symptom.ts';

/** Labels of streams by which they are those of a thing, in the order in which they are trusted. */
const labels = [...new Set(['device_id', 'service_name', ...names.service, ...names.host])];
const mostValues = 20;

/** Returns the selector of the lines of a thing by its own name, for where streams cannot be listed. */
export function usualSelector(id: string): string | undefined {
  const [kind, name = ''] = id.split(/:(.*)/s, 2);
  return kind === 'device'
    ? `{device_id=${JSON.stringify(name)}}`
    : kind === 'service'
      ? `{service_name=${JSON.stringify(name)}}`
      : undefined;
}

/** Returns the selector of the lines of each thing: streams name it in one label or another, and in some form. */
export async function streamsOf(
  gatherer: Gatherer,
  entities: Entities,
  window: Period,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await gatherer.ask({
    kind: 'log',
    source: 'streams',
    query: labels.join(', '),
    window,
  });
  if (found === undefined) {
    return undefined;
  }
  const named = found.value as Readonly<Record<string, readonly string[]>>;
  const values = new Map<string, { readonly label: string; readonly values: string[] }>();
  for (const label of labels) {
    for (const value of named[label] ?? []) {
      const id =
        label === 'device_id'
          ? deviceNode(value)
          : (entities.resolve({ [label]: value }, 'any')?.id ??
            (label === 'service_name' ? serviceNode(value) : undefined));
      const known = id === undefined ? undefined : values.get(id);
      if (id !== undefined && known === undefined) {
        values.set(id, { label, values: [value] });
      } else if (known?.label === label && known.values.length < mostValues) {
        known.values.push(value);
      }
    }
  }
  return new Map([...values].map(([id, { label, values: own }]) => [id, selectorOf(label, own)]));
}

const selectorOf = (label: string, values: readonly string[]): string =>
  values.length === 1
    ? `{${label}=${JSON.stringify(values[0])}}`
    : `{${label}=~${JSON.stringify(values.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'))}}`;
