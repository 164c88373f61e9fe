import { writeSync } from 'node:fs';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest, type SampleRow } from 'svc/contracts/metricsdb';
import { startTestHost } from 'svc/testing';

import { seeded } from 'svc/seeded';
import { pretendDevices } from '../plugins/investigate/pretend-devices.ts';

/**
 * Real host in a separate process, whose cost can be read off the process. It invents its hosts and
 * their history.
 */
const [count, hours, bad] = process.argv.slice(2).map(Number) as [number, number, number];
const minute = 60_000;
const { devices, directory } = pretendDevices(count);
const house = await startTestHost(
  { after: () => undefined },
  {
    plugins: [
      'iam',
      'session',
      'setting',
      'ingest',
      'metricsdb',
      'logs',
      'traces',
      'alert',
      'topology',
      'changes',
      'investigate',
    ],
    services: { 'device.directory': directory },
    environment: { SVC_INVESTIGATE_MOST_PER_RULE: '100' },
  },
);
// More than the store takes by default: exporters and vitals together are 254,000, and none is to be refused.
await house.json('/api/v1/system-settings/metricsdb/max_series', {
  method: 'PUT',
  body: JSON.stringify({ value: 400_000 }),
});
const random = seeded('fleet', 1);
/** Data for rules and checks; one host breaks on command. */
let brokenFrom = Infinity;
const vitals = (id: number, time: number): SampleRow[] => {
  const isBad = id === bad && time >= brokenFrom;
  const values = {
    node_cpu_usage_percent: isBad ? 98 : 20 + 8 * random(),
    node_memory_used_percent: 40 + 2 * random(),
    node_filesystem_used_percent: 50,
    node_disk_io_utilization_percent: 5 + 4 * random(),
    node_open_fds_percent: 2 + random(),
    node_swap_used_percent: 0,
    node_network_receive_bytes_per_second: 1e6 * (1 + random()),
    node_network_transmit_bytes_per_second: 1e6 * (1 + random()),
  };
  return Object.entries(values).map(([name, value]) => ({
    labels: { __name__: name, device_id: String(id) },
    time,
    value,
  }));
};
const write = (time: number): Promise<unknown> =>
  house.service(MetricsIngest).write(devices.flatMap(({ id }) => vitals(id, time)));
for (let time = Date.now() - hours * 60 * minute; time < Date.now(); time += minute) {
  await write(time);
}
setInterval(() => void write(Date.now()), 15_000);
// It does not outlive whoever started it.
process.stdin.resume().once('end', () => process.exit());
process.once('SIGUSR2', () => {
  brokenFrom = Date.now();
  void write(Date.now()).then(() => house.service(AlertEvaluator).tick());
});
writeSync(1, `${JSON.stringify({ url: house.url, token: house.token })}\n`);
