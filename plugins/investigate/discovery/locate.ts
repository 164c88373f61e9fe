import type { LabelRecord } from 'svc/contracts/metricsdb';

import type { Binding } from './bindings.ts';
import type { Entities } from './entities.ts';
import { selectedBy } from '../fetch/named-in.ts';
import { metricOf, type Subject } from '../fetch/symptom.ts';

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
