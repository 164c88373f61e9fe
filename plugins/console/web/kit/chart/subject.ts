import type { Shown } from './shown.ts';

/** Labels that say of whom a chart is. */
export type Subject = Readonly<Record<string, string>>;

/** Names by which metrics call the service whose logs and traces there are. */
const serviceLabels = ['service_name', 'service', 'job'];

/** Returns the labels that all lines of a chart share, or that its query asks for. */
export function subjectOf({ queries, plotted }: Pick<Shown, 'queries' | 'plotted'>): Subject {
  const asked = Object.fromEntries(
    queries.flatMap(({ expr }) =>
      [...expr.matchAll(/[{,]\s*(\w+)\s*=\s*"([^"\\]*)"/g)].map(([, name, value]) => [
        name!,
        value!,
      ]),
    ),
  );
  const [first, ...others] = plotted?.lines.map(({ labels = {} }) => labels) ?? [];
  const shared = Object.entries(first ?? {}).filter(([name, value]) =>
    others.every((labels) => labels[name] === value),
  );
  return { ...asked, ...Object.fromEntries(shared) };
}

/** Returns the host or the service of a subject; a host comes first, since what it sends has many names. */
function ownerOf(subject: Subject): { readonly host?: string; readonly service?: string } {
  const host = subject['device_id'];
  const service = serviceLabels.map((label) => subject[label]).find(Boolean);
  return host === undefined ? { service } : { host, service: subject['service_name'] };
}

/** Returns the LogQL of all lines of a subject. */
export function logsOf(subject: Subject): string {
  const { host, service } = ownerOf(subject);
  const matchers = [
    ...(host === undefined ? [] : [`device_id=${JSON.stringify(host)}`]),
    ...(service === undefined ? [] : [`service_name=${JSON.stringify(service)}`]),
  ];
  return `{${matchers.join(', ') || 'service_name=~".+"'}}`;
}

/** Returns the TraceQL of all traces of a subject. */
export function tracesOf(subject: Subject): string {
  const { host, service } = ownerOf(subject);
  const conditions = [
    ...(host === undefined ? [] : [`resource.device_id = ${JSON.stringify(host)}`]),
    ...(service === undefined ? [] : [`resource.service.name = ${JSON.stringify(service)}`]),
  ];
  return conditions.length === 0 ? '{ }' : `{ ${conditions.join(' && ')} }`;
}
