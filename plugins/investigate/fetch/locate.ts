import type { LabelRecord } from 'svc/contracts/metricsdb';

import names from '../conventions/labels.json' with { type: 'json' };
import type { Binding } from './bindings.ts';
import type { Entities } from './entities.ts';
import { metricOf, type Subject } from './symptom.ts';

const identifying = new Set([...names.service, ...names.host]);
const most = 40;

/** Returns the texts by which an incident names what it is about, whatever labels they are in. */
export function namedIn({
  incident,
  measure,
}: Pick<Subject, 'incident' | 'measure'>): readonly string[] {
  const found = [incident.labels, measure?.labels ?? {}, selectedBy(measure?.query ?? '')].flatMap(
    (labels) =>
      Object.entries(labels)
        .filter(([label]) => identifying.has(label) && label !== 'device_id')
        .map(([, value]) => value),
  );
  const forms = found.flatMap((text) => [text, text.replace(/:\d+$/, '')]);
  return [...new Set(forms.filter((text) => text !== ''))].slice(0, most);
}

/** Returns where an incident is, once it is known what things there are: its labels name one of them in some form. */
export function located(
  subject: Subject,
  entities: Entities,
  bindings: readonly Binding[],
): Pick<Subject, 'node'> & { readonly start: readonly string[] } {
  const { incident, measure } = subject;
  const metric = metricOf(subject);
  const ofHost = bindings.some(
    (binding) => binding.metric === metric && binding.convention.of === 'host',
  );
  const idOf = (labels: LabelRecord): string | undefined =>
    (ofHost ? entities.resolve(labels, 'host', { known: true }) : undefined)?.id ??
    entities.resolve(labels, 'any')?.id ??
    entities.resolve(labels, 'service', { known: true })?.id;
  const ids = [incident.labels, measure?.labels ?? {}, selectedBy(measure?.query ?? '')].flatMap(
    (labels) => idOf(labels) ?? [],
  );
  const node = subject.node ?? ids[0];
  return { ...(node === undefined ? { node: undefined } : { node }), start: [...new Set(ids)] };
}

/** Labels that a query selects by equality. */
function selectedBy(query: string): LabelRecord {
  const pairs = [...query.matchAll(/([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(pairs.map(([, label, value]) => [label!, value!]));
}
