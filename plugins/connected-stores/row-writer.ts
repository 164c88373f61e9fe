import type { ReportedDevice } from 'svc/contracts/device';
import type { MetricsIngest, SampleRow } from 'svc/contracts/metricsdb';

import type { Written } from './history/history.ts';
import type { FoundHosts } from './hosts/find-hosts.ts';
import type { Course, Labels, Sample } from './prometheus/server.ts';

export interface RowWriterParts {
  readonly name: string;
  readonly ingest: MetricsIngest;
  readonly now: () => number;
}

/** Series of one store that are copied; further ones are left out. */
const maxSeries = 60_000;
const rowsAtOnce = 5_000;

/** Writes copied series with the devices that they are of. */
export class RowWriter {
  readonly #parts: RowWriterParts;
  readonly #found: FoundHosts;
  readonly #deviceOf: (host: string) => ReportedDevice | undefined;
  #rows: SampleRow[] = [];
  written = 0;
  leftOut = 0;

  constructor(
    parts: RowWriterParts,
    found: FoundHosts,
    deviceOf: (host: string) => ReportedDevice | undefined,
  ) {
    this.#parts = parts;
    this.#found = found;
    this.#deviceOf = deviceOf;
  }

  /** Writes 1 or 0 for each host, so that rules see one that is down. */
  online(hosts: readonly { readonly device: ReportedDevice; readonly online: boolean }[]): void {
    const { now, name } = this.#parts;
    const time = now();
    const rows = hosts.map(({ device, online }) => ({
      labels: { __name__: 'svc_host_online', device_id: String(device.device_id), store: name },
      time,
      value: online ? 1 : 0,
    }));
    this.#rows.push(...rows);
  }

  async write(samples: readonly Sample[]): Promise<void> {
    const time = this.#parts.now();
    const rows = samples.flatMap(({ labels, value }) => {
      const own = this.#labelsOf(labels);
      return own === undefined ? [] : [{ labels: own, time, value }];
    });
    const room = Math.max(0, maxSeries - this.written);
    this.leftOut += Math.max(0, rows.length - room);
    const kept = rows.slice(0, room);
    this.written += kept.length;
    kept.forEach((row) => this.#rows.push(row));
    if (this.#rows.length >= rowsAtOnce) {
      await this.flush();
    }
  }

  /** Writes series over time; a sample older than those its series has is refused. */
  async writeCourses(courses: readonly Course[]): Promise<Written> {
    const rows = courses.flatMap(({ labels, points }) => {
      const own = this.#labelsOf(labels);
      return own === undefined ? [] : points.map(([time, value]) => ({ labels: own, time, value }));
    });
    const written = { accepted: 0, refused: 0 };
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      const answer = await this.#parts.ingest.write(rows.slice(at, at + rowsAtOnce));
      written.accepted += answer.accepted;
      written.refused += answer.rejected;
    }
    return written;
  }

  async flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length > 0) {
      await this.#parts.ingest.write(rows);
    }
  }

  /** Labels of a series here: none for what svc wrote there itself, and for a host whose figures come from elsewhere. */
  #labelsOf(labels: Labels): Labels | undefined {
    const { device_id: known = '', edge_id: _, ...own } = labels;
    if (known !== '' || (own['__name__'] ?? '') === '') {
      return undefined;
    }
    const host = this.#found.hostOf(own);
    if (host === undefined) {
      return own;
    }
    const device = this.#deviceOf(host);
    return device === undefined ? undefined : { ...own, device_id: String(device.device_id) };
  }
}
