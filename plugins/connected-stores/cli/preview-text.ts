import { printable, table } from 'svc/cli';

export interface PreviewAnswer {
  readonly test: { readonly ok: boolean; readonly detail: string };
  readonly hosts: readonly {
    readonly name: string;
    readonly by: string;
    readonly instances: readonly string[];
    readonly online: boolean;
    readonly device_id: number | null;
    readonly device_name: string | null;
    readonly has_agent: boolean;
    readonly series: number | null;
  }[];
  readonly host_count: number;
  readonly series: number | null;
  readonly series_without_host: number | null;
  readonly without_host: readonly {
    readonly job: string;
    readonly instance: string;
    readonly series: number;
  }[];
}

const maxRows = 50;

/** Prints which hosts a store brings, by which label, and what names none. */
export function previewText(preview: PreviewAnswer): string {
  const { test, hosts, host_count: count, series, series_without_host: without } = preview;
  if (!test.ok) {
    return `No connection: ${printable(test.detail)}`;
  }
  const rows = hosts
    .slice(0, maxRows)
    .map(({ name, by, instances, online, series: own, ...host }) => [
      printable(name),
      printable(by),
      printable(instances.join(', ')),
      online ? 'up' : 'down',
      own === null ? '–' : String(own),
      deviceOf(host),
    ]);
  const targets = preview.without_host.map(
    ({ job, instance, series: own }) => `${printable(job)} ${printable(instance)} (${own})`,
  );
  return [
    printable(test.detail),
    count === 0
      ? 'No hosts: none of its series is of node_exporter, windows_exporter or OpenTelemetry host metrics'
      : table([['HOST', 'BY', 'INSTANCE', 'STATE', 'SERIES', 'DEVICE'], ...rows]),
    ...(count > rows.length ? [`… and ${count - rows.length} more hosts; --json lists them`] : []),
    series === null
      ? 'The server did not return its series count in time'
      : `${without} of ${series} series have no host label${targets.length === 0 ? '' : `: ${targets.slice(0, 5).join(', ')}`}`,
  ].join('\n');
}

const deviceOf = ({
  device_id: id,
  device_name: name,
  has_agent: watched,
}: Pick<PreviewAnswer['hosts'][number], 'device_id' | 'device_name' | 'has_agent'>): string =>
  id === null ? 'new' : `${id} ${printable(name ?? '')}${watched ? ', with agent' : ''}`;
