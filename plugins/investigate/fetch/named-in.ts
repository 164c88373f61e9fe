import type { LabelRecord } from 'svc/contracts/metricsdb';

import names from '../conventions/labels.json' with { type: 'json' };
import type { Subject } from './symptom.ts';

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

/** Labels that a query selects by equality. */
export function selectedBy(query: string): LabelRecord {
  const pairs = [...query.matchAll(/([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(pairs.map(([, label, value]) => [label!, value!]));
}
