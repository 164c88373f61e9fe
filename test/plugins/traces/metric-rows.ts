import { ProtoReader } from 'svc/store';

import type { MetricRow } from '../../../plugins/traces/store/intake/span-metrics.ts';

/** The samples of a body of Prometheus remote write with one sample for each series. */
export function rowsIn(body: Uint8Array): MetricRow[] {
  const rows: MetricRow[] = [];
  const request = new ProtoReader(body);
  while (request.next() === 1) {
    const series = request.message();
    const labels: Record<string, string> = {};
    let time = 0;
    let value = 0;
    for (let field = series.next(); field !== 0; field = series.next()) {
      const part = series.message();
      part.next();
      if (field === 1) {
        const name = part.string();
        part.next();
        labels[name] = part.string();
      } else {
        value = part.double();
        part.next();
        time = part.int64();
      }
    }
    rows.push({ labels, time, value });
  }
  return rows;
}
